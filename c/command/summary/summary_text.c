/* summary_text.c - the summary for people.
 * SPDX-License-Identifier: MIT */
#include "summary_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "command/cli/terminal.h"
#include "eventtable.h"
#include "iotables.h"
#include "regiontable.h"
#include "summary_job.h"
#include "summary_notes.h"

/* ---- The time -------------------------------------------------------------------------------------------------------- */

static void add_bar(table *sheet, uint64_t part, uint64_t whole) {
  const char *block = terminal_has_unicode() ? "\u2588" : "#";
  char bar[128] = "";
  size_t len = 0;
  int full = whole ? (int)(24.0 * (double)part / (double)whole + 0.5) : 0;
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
    {"I/O calls", answer->io_ns, !io_stats_calls(&answer->io), 0},
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

/* ---- Training ------------------------------------------------------------------------------------------------------- */

static void print_epochs(FILE *out, const summary_answer *answer, uint32_t top) {
  static const table_column columns[] = {{"epoch", 'r'}, {"job time", 'r'},       {"fetches", 'r'},
                                         {"fetch", 'r'}, {"compute events", 'r'}, {"compute", 'r'}};
  table epochs = {.columns = columns, .column_count = 6};
  const summary_state *state = answer->state;
  const uint32_t count = state->epoch_numbers.count;
  const uint64_t trainers = answer->training.processes;
  char note[SHOWN_BYTES + 64], more[SHOWN_BYTES];
  if (!answer->training.epochs) return;
  shown(more, top, count);
  snprintf(note, sizeof note, "%s%s%s", trainers > 1 ? "job time of all, others per trainer" : "",
           trainers > 1 && *more ? "; " : "", more);
  table_heading(out, "Training by epoch", note);
  for (uint32_t i = 1; i <= count && i <= top; i++) {
    const epoch_stats *epoch = &state->epochs[i];
    int64_t number = (int64_t)state->epoch_numbers.keys[i].a;
    if (number == NO_NUMBER) table_format(&epochs, "unknown");
    else table_format(&epochs, "%" PRId64, number);
    add_time(&epochs, (uint64_t)(epoch->last - epoch->first));
    add_count(&epochs, epoch->fetches / trainers);
    add_time(&epochs, epoch->fetch_ns / trainers);
    add_count(&epochs, epoch->computes / trainers);
    add_time(&epochs, epoch->compute_ns / trainers);
  }
  table_print(&epochs, out, 2);
}

static void print_training(FILE *out, const summary_answer *answer, uint32_t top) {
  const training_totals *training = &answer->training;
  const uint64_t trainers = training->processes;
  const int is_one = trainers == 1;
  const table_column columns[] = {{"", 'l'}, {is_one ? "time" : "time per trainer", 'r'}, {"share", 'r'}, {"", 't'}};
  table split = {.columns = columns, .column_count = 4};
  char note[160], least[32] = "";
  if (!training_exists(training) || !(training->count[AI_FETCH] || training->epochs || answer->state->lost_fetches))
    return; /* a solver computes too */
  if (training->steps_least != training->steps) snprintf(least, sizeof least, "%" PRIu64 " to ", training->steps_least);
  snprintf(note, sizeof note, "%" PRIu64 " trainer%s, %" PRIu64 " epoch%s, %s%" PRIu64 " step%s%s", trainers,
           plural(trainers), training->epochs, plural(training->epochs), least, training->steps,
           plural(training->steps), is_one ? "" : " each");
  table_heading(out, "Training", note);
  const struct {
    const char *what;
    uint64_t ns, whole_ns;
    const char *note;
    int is_unknown;
  } rows[] = {
    {"start-up", training->startup_ns, 0, "before the training loop", 0},
    {"loop", training->loop_ns, training->loop_ns, "first to last event; shares are of this", 0},
    {"compute", training->compute_ns, training->loop_ns, "", 0},
    {"fetch", training->fetch_ns, training->loop_ns, "", !training->is_fetch_known},
    {"waiting for data", training->wait_ns, training->loop_ns,
     training->wait_ns == training->fetch_ns ? "all of the fetching: nothing computes meanwhile"
                                             : "fetching while nothing computes",
     !training->is_fetch_known},
    {"loading", training->data_ns, training->loop_ns,
     training->data_ns == training->data_in_loop_ns ? "reading and preparing samples"
                                                    : "reading and preparing samples; the share: inside the loop",
     0},
    {"hidden", training->hidden_ns, training->data_ns, "of the loading, while something computes", 0},
    {"communication", training->ns[AI_COMM], training->loop_ns, "", 0},
    {"device", training->ns[AI_DEVICE], training->loop_ns, "", 0},
    {"checkpoint", training->ns[AI_CHECKPOINT], training->loop_ns, "", 0},
    {"tear-down", training->teardown_ns, 0, "after the training loop", 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const int is_loading = strcmp(rows[i].what, "loading") == 0, is_optional = is_loading || i > 6;
    if (strcmp(rows[i].what, "hidden") == 0 ? !training->data_ns : is_optional && !rows[i].ns && rows[i].whole_ns)
      continue;
    table_format(&split, "%s", rows[i].what);
    if (rows[i].is_unknown) {
      table_format(&split, "unknown");
      table_format(&split, "-");
    } else {
      add_time(&split, rows[i].ns / trainers);
      add_share(&split, is_loading ? training->data_in_loop_ns : rows[i].ns, rows[i].whole_ns);
    }
    table_format(&split, "%s", rows[i].note);
  }
  table_print(&split, out, 2);
  print_epochs(out, answer, top);
}

void summary_text(FILE *out, const summary_answer *answer, uint32_t top, int is_whole, int is_single) {
  summary_head(out, answer, top);
  print_split(out, answer);
  event_table(out, answer, top);
  if (is_whole) {
    region_table(out, answer, top);
    io_tables(out, answer, top, is_single);
    print_training(out, answer, top);
    summary_communication(out, answer, top);
  }
  summary_notes(out, answer);
}
