/* summary_comm.c - the summary for people: communication.
 * SPDX-License-Identifier: MIT */
#include "summary_comm.h"

#include <inttypes.h>

#include "cells.h"

static void add_note(table *lines, const summary_answer *answer, const collective *call) {
  const uint64_t world_size = answer->facts.world_size;
  char note[160] = "";
  size_t len = 0;
  if (call->unknown && call->least != call->most)
    snprintf(note, sizeof note, "%s: %" PRIu64 " to %" PRIu64, call->unknown, call->least, call->most);
  else if (call->unknown) snprintf(note, sizeof note, "%s", call->unknown);
  if (!call->unknown && call->hosts > 1)
    len = (size_t)snprintf(note, sizeof note, "as exact as the clocks of %" PRIu64 " hosts agree", call->hosts);
  if (!call->unknown && call->least != call->most)
    len += (size_t)snprintf(note + len, sizeof note - len, "%sthe first %" PRIu64 " calls; some ranks made one more",
                            len ? "; " : "", call->least);
  if (!call->unknown && world_size > call->processes)
    snprintf(note + len, sizeof note - len, "%s%" PRIu64 " of %" PRIu64 " ranks", len ? "; " : "", call->processes,
             world_size);
  table_format(lines, "%s", note);
}

void summary_communication(FILE *out, const summary_answer *answer, uint32_t top) {
  static const table_column columns[] = {{"name", 't'},      {"processes", 'r'},    {"calls each", 'r'},
                                         {"time each", 'r'}, {"waiting each", 'r'}, {"last", 'l'},
                                         {"", 't'}};
  table lines = {.columns = columns, .column_count = 7};
  const collective_list *list = &answer->collectives;
  char note[128], more[SHOWN_BYTES];
  if (!list->count) return;
  shown(more, top, list->count);
  snprintf(note, sizeof note, "waiting: for the last rank to come%s%s", *more ? "; " : "", more);
  table_heading(out, "Communication", note);
  for (uint32_t i = 0; i < list->count && i < top; i++) {
    const collective *call = &list->calls[i];
    dft_text name = state_text_of(answer->state, call->name);
    add_text(&lines, name);
    add_count(&lines, call->processes);
    add_count(&lines, call->calls / call->processes);
    add_time(&lines, call->time_ns / call->processes);
    if (call->unknown) table_format(&lines, "unknown");
    else add_time(&lines, call->waited_ns / call->processes);
    if (call->last_rank == NO_NUMBER) table_format(&lines, "-");
    else
      table_format(&lines, "rank %" PRId64 ", %" PRIu64 " of %" PRIu64, call->last_rank, call->last_calls,
                   call->meetings);
    add_note(&lines, answer, call);
  }
  table_print(&lines, out, 2);
}
