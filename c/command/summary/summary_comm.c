/* summary_comm.c - the summary for people: communication.
 * SPDX-License-Identifier: MIT */
#include "summary_comm.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cells.h"
#include "command/cli/printable.h"
#include "command/cli/terminal.h"
#include "command/symbol/demangle.h"
#include "matrixtable.h"

/* ---- By name -------------------------------------------------------------------------------------------------------- */

/* How well the clocks of several hosts agree. Returns the length of the text. */
static size_t put_clocks(char *note, size_t room, const summary_answer *answer, const collective *call) {
  const double worst = host_clocks_worst(&answer->collectives.clocks);
  if (call->hosts < 2 || worst >= 0) return 0;
  return (size_t)snprintf(note, room, "as exact as the clocks of %" PRIu64 " hosts agree", call->hosts);
}

/* What most of the waiting for the last ones was. */
static void add_before(table *lines, const summary_answer *answer, const delay_cause *before) {
  const dft_text name = state_text_of(answer->state, before->name);
  char *plain = demangle(name, 0);
  if (!before->is_known) table_format(lines, "-");
  else if (plain) table_format(lines, "%.0f %% %s", 100 * before->share, plain);
  else if (before->name) table_format(lines, "%.0f %% %.*s", 100 * before->share, (int)name.len, name.text);
  else table_format(lines, "%.0f %% no region or call", 100 * before->share);
  free(plain);
}

/* Whether ranks wait for each other in it, and not for a message. */
static int can_wait(const collective *call) {
  return call->kind == MPI_NONE || mpi_is_collective((uint8_t)call->kind);
}

static void add_note(table *lines, const summary_answer *answer, const collective *call) {
  const uint64_t world_size = answer->facts.world_size;
  char note[160] = "";
  size_t len = 0;
  if (!can_wait(call)) len = 0;
  else if (call->unknown && call->kind == MPI_NONE && call->least != call->most)
    snprintf(note, sizeof note, "%s: %" PRIu64 " to %" PRIu64, call->unknown, call->least, call->most);
  else if (call->unknown) snprintf(note, sizeof note, "%s", call->unknown);
  else len = put_clocks(note, sizeof note, answer, call);
  if (!call->unknown && call->kind == MPI_NONE && call->least != call->most)
    len += (size_t)snprintf(note + len, sizeof note - len, "%sthe first %" PRIu64 " calls; some ranks made one more",
                            len ? "; " : "", call->least);
  if (!call->unknown && call->kind == MPI_NONE && world_size > call->processes)
    snprintf(note + len, sizeof note - len, "%s%" PRIu64 " of %" PRIu64 " ranks", len ? "; " : "", call->processes,
             world_size);
  table_format(lines, "%s", note);
}

/* Why their waiting is a dash. */
static void explain_dashes(FILE *out, const collective_list *list) {
  for (uint32_t i = 0; i < list->count; i++) {
    if (!mpi_is_point_to_point((uint8_t)list->calls[i].kind)) continue;
    table_remark(out, 2,
                 list->waits.late_ns ? "how much of point-to-point calls is waiting is not known, but for late "
                                       "senders: see Communication by rank"
                                     : "how much of point-to-point calls is waiting is not known");
    return;
  }
}

static void print_names(FILE *out, const summary_answer *answer, uint32_t top, uint32_t count) {
  static const table_column columns[] = {
    {"name", 't'},         {"processes", 'o'}, {"calls each", 'r'}, {"time each", 'r'},
    {"waiting each", 'k'}, {"last", 'l'},      {"before", 't'},     {"", 't'}};
  table lines = {.columns = columns, .column_count = 8};
  const collective_list *list = &answer->collectives;
  char note[128], more[SHOWN_BYTES];
  uint32_t printed = 0;
  shown(more, top, count);
  snprintf(note, sizeof note, "waiting: for the last rank to come%s%s", *more ? "; " : "", more);
  table_heading(out, "Communication", note);
  for (uint32_t i = 0; i < list->count && printed < top; i++) {
    const collective *call = &list->calls[i];
    if (call->kind == MPI_FILE) continue;
    printed++;
    add_text(&lines, state_text_of(answer->state, call->name));
    add_count(&lines, call->processes);
    add_count(&lines, call->calls / call->processes);
    add_time(&lines, call->time_ns / call->processes);
    if (!can_wait(call)) table_format(&lines, "-");
    else if (call->unknown) table_format(&lines, "unknown");
    else add_time(&lines, call->waited_ns / call->processes);
    if (call->last_rank == NO_NUMBER) table_format(&lines, "-");
    else
      table_format(&lines, "rank %" PRId64 ", %" PRIu64 " of %" PRIu64, call->last_rank, call->last_calls,
                   call->meetings);
    add_before(&lines, answer, &call->before);
    add_note(&lines, answer, call);
  }
  table_print(&lines, out, 2);
  explain_dashes(out, list);
}

/* ---- By rank -------------------------------------------------------------------------------------------------------- */

static int by_caused(const void *a, const void *b) {
  const comm_rank *one = *(const comm_rank *const *)a, *two = *(const comm_rank *const *)b;
  if (one->waits.caused_ns != two->waits.caused_ns) return one->waits.caused_ns > two->waits.caused_ns ? -1 : 1;
  return (one->rank > two->rank) - (one->rank < two->rank);
}

/* The ranks that others waited for most come first. The caller frees the list. NULL: no memory. */
static const comm_rank **worst_first(const collective_list *list) {
  const comm_rank **order = calloc((size_t)list->rank_count + 1, sizeof(comm_rank *));
  for (uint32_t i = 0; order && i < list->rank_count; i++) order[i] = &list->ranks[i];
  if (order) qsort(order, list->rank_count, sizeof(comm_rank *), by_caused);
  return order;
}

static void print_ranks(FILE *out, const summary_answer *answer, uint32_t top) {
  static const table_column columns[] = {{"rank", 'l'},        {"communication", 'r'}, {"share", 'o'},
                                         {"waited", 'k'},      {"caused", 'k'},        {"last", 'o'},
                                         {"late sender", 'r'}, {"before", 't'},        {"most time in", 't'}};
  table lines = {.columns = columns, .column_count = 9};
  const collective_list *list = &answer->collectives;
  const comm_rank **order = worst_first(list);
  char note[160], more[SHOWN_BYTES];
  shown(more, top, list->rank_count);
  snprintf(note, sizeof note, "caused: what others waited for this rank; share: of the job time%s%s", *more ? "; " : "",
           more);
  table_heading(out, "Communication by rank", note);
  for (uint32_t i = 0; order && i < list->rank_count && i < top; i++) {
    const comm_rank *rank = order[i];
    answer_label label;
    answer_process_label(answer->state, rank->process, &label);
    if (rank->rank == NO_NUMBER) add_text(&lines, label.text);
    else table_format(&lines, "%" PRId64, rank->rank);
    add_time(&lines, rank->comm_ns);
    add_share(&lines, rank->comm_ns, answer->job_ns);
    add_time(&lines, rank->waits.waited_ns);
    add_time(&lines, rank->waits.caused_ns);
    add_count(&lines, rank->last_count);
    add_time(&lines, rank->waits.late_caused_ns);
    add_before(&lines, answer, &rank->before);
    if (rank->top == NO_CALL) table_format(&lines, "-");
    else add_text(&lines, state_text_of(answer->state, rank->top));
  }
  table_print(&lines, out, 2);
  free(order);
}

/* ---- Clocks --------------------------------------------------------------------------------------------------------- */

static void print_moved(FILE *out, const summary_answer *answer, const host_clock *host) {
  const double offset = -host->fit.offset_ns / 1e9;
  const dft_text name = answer_host(answer->state, host->host);
  char text[FORMAT_BYTES];
  fprintf(out, "  the clock of %s is %s %s", printable_n(name.text, name.len),
          format_duration(text, offset < 0 ? -offset : offset), offset < 0 ? "behind" : "ahead");
  if (host->fit.drift != 0) fprintf(out, " and drifts by %.3g ppm", -host->fit.drift * 1e6);
  if (host->fit.knowledge == CLOCK_CONTRADICTED) fprintf(out, ", and it was set or does not run evenly");
  fprintf(out, ": its times are moved for this\n");
}

static void print_clocks(FILE *out, const summary_answer *answer) {
  const collective_list *list = &answer->collectives;
  const host_clocks *clocks = &list->clocks;
  const double worst = host_clocks_worst(clocks);
  char text[FORMAT_BYTES];
  if (clocks->count < 2) return;
  for (uint32_t i = 0; i < clocks->count; i++) {
    if (clocks->hosts[i].is_moved) print_moved(out, answer, &clocks->hosts[i]);
  }
  if (worst < 0) return;
  fprintf(out, "  clocks of %u nodes agree within %s%s", clocks->count, terminal_has_unicode() ? "\u00b1" : "+-",
          format_duration(text, worst / 1e9));
  if (list->waits.unsure_ns)
    fprintf(out, "; shorter waits are not counted, %s in all",
            format_duration(text, (double)list->waits.unsure_ns / 1e9));
  fprintf(out, "\n");
}

/* ---- Messages ------------------------------------------------------------------------------------------------------- */

static void print_unmatched(FILE *out, const collective_list *list) {
  const uint64_t unmatched = list->received - list->matched + list->unknown_sources;
  char text[FORMAT_BYTES], all[FORMAT_BYTES], remark[160];
  if (!unmatched) return;
  snprintf(remark, sizeof remark, "the sender of %s of %s messages is not known: late senders are missing there",
           format_count(text, unmatched), format_count(all, list->received + list->unknown_sources));
  table_remark(out, 2, remark);
}

/* What a wait completes was counted where it began. */
static int has_size(const collective *call) {
  return call->bytes && call->kind != MPI_FILE && call->kind != MPI_COMPLETE;
}

static void print_sizes(FILE *out, const summary_answer *answer, uint32_t top) {
  static const table_column columns[] = {{"call", 'l'},         {"calls", 'r'},   {"bytes", 'r'},
                                         {"~size median", 'r'}, {"largest", 'r'}, {"time", 'r'}};
  table lines = {.columns = columns, .column_count = 6};
  const collective_list *list = &answer->collectives;
  uint32_t count = 0, printed = 0;
  char note[SHOWN_BYTES];
  for (uint32_t i = 0; i < list->count; i++) count += (uint32_t)has_size(&list->calls[i]);
  if (!count) return;
  table_heading(out, "Sizes of MPI calls", shown(note, top, count));
  for (uint32_t i = 0; i < list->count && printed < top; i++) {
    const collective *call = &list->calls[i];
    if (!has_size(call)) continue;
    printed++;
    add_text(&lines, state_text_of(answer->state, call->name));
    add_count(&lines, call->calls);
    add_bytes(&lines, call->bytes);
    add_bytes(&lines, histogram_percentile(&call->sizes, 0.5, 1));
    add_bytes(&lines, call->sizes.most);
    add_time(&lines, call->time_ns);
  }
  table_print(&lines, out, 2);
}

void summary_communication(FILE *out, const summary_answer *answer, uint32_t top) {
  const collective_list *list = &answer->collectives;
  uint32_t count = 0;
  for (uint32_t i = 0; i < list->count; i++) count += list->calls[i].kind != MPI_FILE;
  if (!count) return;
  print_names(out, answer, top, count);
  if (list->waits.waited_ns) print_ranks(out, answer, top);
  print_clocks(out, answer);
  print_unmatched(out, list);
  print_sizes(out, answer, top);
  matrix_table(out, answer, top);
}
