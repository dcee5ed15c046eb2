/* summary_text.c - the summary for people.
 * SPDX-License-Identifier: MIT */
#include "summary_text.h"

#include "cells.h"
#include "command/cli/terminal.h"
#include "command/summary/verdict/judgement_text.h"
#include "eventtable.h"
#include "iotables.h"
#include "matrixtable.h"
#include "regiontable.h"
#include "summary_comm.h"
#include "summary_job.h"
#include "summary_notes.h"
#include "summary_training.h"

/* ---- The time -------------------------------------------------------------------------------------------------------- */

#define BAR_MOST 24

/* The parts of a state that someone made up may be larger than the whole. */
static void add_bar(table *sheet, uint64_t part, uint64_t whole) {
  const char *block = terminal_has_unicode() ? "\u2588" : "#";
  char bar[BAR_MOST * 3 + 1] = ""; /* a block is 3 bytes at most */
  size_t len = 0;
  const double share = whole ? (double)part / (double)whole : 0;
  const int full = share < 1 ? (int)(BAR_MOST * share + 0.5) : BAR_MOST;
  for (int i = 0; i < full; i++) len += (size_t)snprintf(bar + len, sizeof bar - len, "%s", block);
  table_format(sheet, "%s", bar);
}

static void print_split(FILE *out, const summary_answer *answer) {
  static const table_column columns[] = {{"", 'l'}, {"time", 'r'}, {"share", 'r'}, {"", 'l'}};
  table split = {.columns = columns, .column_count = 4};
  table_heading(out, "Where the time of all threads went", "");
  const struct {
    const char *what;
    uint64_t ns;
    int is_missing, is_left_out;
  } rows[] = {
    {"regions", answer->region_ns, 0, 0},
    {"I/O calls", answer->io_ns, !answer->io_ns && !io_stats_calls(&answer->io), 0}, /* tables may hide them */
    {"process calls", answer->process_ns, 0, !answer->process_ns},
    {"outside", answer->outside_ns, 0, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (rows[i].is_left_out) continue;
    table_format(&split, "%s", rows[i].what);
    if (rows[i].is_missing) table_format(&split, "not recorded");
    else add_time(&split, rows[i].ns);
    add_share(&split, rows[i].ns, rows[i].is_missing ? 0 : answer->thread_ns);
    add_bar(&split, rows[i].ns, answer->thread_ns);
  }
  table_format(&split, "all");
  add_time(&split, answer->thread_ns);
  add_share(&split, answer->thread_ns, answer->thread_ns);
  table_format(&split, " ");
  table_print(&split, out, 2);
}

void summary_text(FILE *out, const summary_answer *answer, const judgement *made, uint32_t top, int is_whole,
                  int is_single) {
  judgement_print_verdict(out, made);
  judgement_print_findings(out, made, top);
  summary_head(out, answer, top);
  print_split(out, answer);
  event_table(out, answer, top);
  if (is_whole) {
    region_table(out, answer, top);
    io_tables(out, answer, top, is_single);
    mpiio_table(out, answer, top);
    summary_training(out, answer, top);
    summary_communication(out, answer, top);
  }
  summary_notes(out, answer);
}
