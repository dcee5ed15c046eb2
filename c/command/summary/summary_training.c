/* summary_training.c - the summary of a training, for people.
 * SPDX-License-Identifier: MIT */
#include "summary_training.h"

#include <inttypes.h>
#include <string.h>

#include "cells.h"
#include "command/cli/terminal.h"

#define SLOW_SHOWN 5u

static void add_number(table *sheet, int64_t number) {
  if (number == NO_NUMBER) table_format(sheet, "unknown");
  else table_format(sheet, "%" PRId64, number);
}

/* ---- Totals --------------------------------------------------------------------------------------------------------- */

static uint64_t evaluation_of(const summary_answer *answer) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < answer->trainers.count; i++) sum += answer->trainers.lines[i].evaluation_ns;
  return sum;
}

/* A few batches more than steps are those of a loop that was left, or that a framework only looks at. */
static int is_accumulating(uint64_t batches, uint64_t steps) {
  return steps && 2 * batches >= 3 * steps;
}

static void print_heading(FILE *out, const training_totals *training) {
  const int is_one = training->processes == 1;
  char note[192], least[32] = "", batches[64] = "";
  if (training->steps_least != training->steps) snprintf(least, sizeof least, "%" PRIu64 " to ", training->steps_least);
  if (is_accumulating(training->batches, training->steps))
    snprintf(batches, sizeof batches, ", %" PRIu64 " batch%s", training->batches, training->batches == 1 ? "" : "es");
  snprintf(note, sizeof note, "%" PRIu64 " trainer%s%s, %" PRIu64 " epoch%s, %s%" PRIu64 " step%s%s%s",
           training->processes, plural(training->processes), training->is_sequence ? " one after the other" : "",
           training->epochs, plural(training->epochs), least, training->steps, plural(training->steps), batches,
           is_one ? "" : " each");
  table_heading(out, "Training", note);
}

/* What a moment was spent on, as the verdict has it: rows of the loop add up to it. */
static void sum_classes(const trainer_list *list, uint64_t class_ns[TIME_CLASSES], uint64_t *loop_ns) {
  for (uint32_t i = 0; i < list->count; i++) {
    *loop_ns += list->lines[i].loop_ns;
    for (int class = 0; class < TIME_CLASSES; class ++) class_ns[class] += list->lines[i].class_ns[class];
  }
}

static void print_totals(FILE *out, const summary_answer *answer) {
  const training_totals *training = &answer->training;
  const uint64_t trainers = training->processes, evaluation = evaluation_of(answer);
  uint64_t in[TIME_CLASSES] = {0}, whole = 0;
  sum_classes(&answer->trainers, in, &whole);
  const uint64_t fetch = training->train.fetch_ns, loading = training->train.data_ns;
  const uint64_t io = in[TIME_READ] + in[TIME_WRITE] + in[TIME_SYNC] + in[TIME_META];
  const table_column columns[] = {
    {"", 'l'}, {trainers == 1 ? "time" : "time per trainer", 'r'}, {"share", 'r'}, {"", 't'}};
  table split = {.columns = columns, .column_count = 4};
  print_heading(out, training);
  char duration[FORMAT_BYTES], startup[96] = "before the training loop";
  if (training->before_ns) {
    format_duration(duration, 1e-9 * (double)training->before_ns / (double)trainers);
    snprintf(startup, sizeof startup, "before the training loop; %s of it before the first event", duration);
  }
  const struct {
    const char *what;
    uint64_t ns, whole_ns;
    const char *note;
    int is_unknown, is_optional;
  } rows[] = {
    {"start-up", training->startup_ns, 0, startup, 0, 0},
    {"evaluation", evaluation, 0, "apart from the loop; evaluate and test", 0, 1},
    {"pauses", training->pause_ns, 0, "apart from the loop; nothing was recorded for long", 0, 1},
    {"loop", whole, whole,
     training->pause_ns ? "first to last event, without pauses and evaluation; shares are of this"
     : evaluation       ? "first to last event, without evaluation; shares are of this"
                        : "first to last event; shares are of this",
     0, 0},
    {"compute", in[TIME_COMPUTE], whole, "", 0, 0},
    {"fetch", fetch, whole, "", !training->is_fetch_known, 0},
    {"waiting for data", in[TIME_INPUT], whole,
     in[TIME_INPUT] == fetch ? "all of the fetching: nothing computes meanwhile" : "fetching while nothing computes",
     !training->is_fetch_known, 0},
    {"communication", in[TIME_COMM], whole, "while nothing computes, with waiting for ranks", 0, 1},
    {"device", in[TIME_TRANSFER], whole, "copies while nothing computes", 0, 1},
    {"checkpoint", in[TIME_CHECKPOINT], whole, "saving and loading while nothing computes", 0, 1},
    {"compiling", in[TIME_COMPILE], whole, "functions, once", 0, 1},
    {"I/O", io, whole, "outside of the above", 0, 1},
    {"outside", in[TIME_OUTSIDE], whole, "of all of the above", 0, 1},
    {"loading", training->data_ns, whole,
     training->data_ns == loading ? "reading and preparing samples"
                                  : "reading and preparing samples; the share: inside the loop",
     0, 1},
    {"hidden", training->hidden_ns, training->data_ns, "of the loading, while something computes", 0, 0},
    {"tear-down", training->teardown_ns, 0, "after the training loop", 0, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const int is_loading = strcmp(rows[i].what, "loading") == 0;
    if (strcmp(rows[i].what, "hidden") == 0 ? !training->data_ns : rows[i].is_optional && !rows[i].ns) continue;
    table_format(&split, "%s", rows[i].what);
    if (rows[i].is_unknown) {
      table_format(&split, "unknown");
      table_format(&split, "-");
    } else {
      add_time(&split, rows[i].ns / trainers);
      add_share(&split, is_loading ? loading : rows[i].ns, rows[i].whole_ns);
    }
    table_format(&split, "%s", rows[i].note);
  }
  table_print(&split, out, 2);
}

/* ---- Epochs, ranks, steps, workers ---------------------------------------------------------------------------------- */

/* Of trainings one after the other, the mean. */
static uint64_t job_time(const epoch_stats *epoch, const training_totals *training) {
  uint64_t sum = epoch->evaluation_ns;
  for (int class = 0; class < TIME_CLASSES; class ++) sum += epoch->class_ns[class];
  if (training->is_sequence) return sum / training->processes;
  return epoch->last > epoch->first ? (uint64_t)(epoch->last - epoch->first) : 0;
}

/* Job time without evaluation, of which every trainer has its own. */
static uint64_t training_time(const epoch_stats *epoch, const training_totals *training) {
  const uint64_t trainers = training->processes, time = job_time(epoch, training);
  const uint64_t evaluation = epoch->evaluation_ns / trainers;
  return evaluation < time ? time - evaluation : 0;
}

static int has_samples(const epoch_stats *epoch, const training_totals *training) {
  return epoch->sampled && epoch->sampled == epoch->batches && training_time(epoch, training);
}

static void add_samples(table *sheet, const epoch_stats *epoch, const training_totals *training) {
  char text[FORMAT_BYTES];
  if (!has_samples(epoch, training)) {
    table_format(sheet, "-");
    return;
  }
  const double rate = (double)epoch->samples / (double)(training->is_sequence ? training->processes : 1) /
                      ((double)training_time(epoch, training) / 1e9);
  if (rate < 10) table_format(sheet, "%.1f", rate);
  else table_format(sheet, "%s", format_count(text, (uint64_t)rate));
}

static void add_known(table *sheet, uint64_t ns, int is_known) {
  if (is_known) add_time(sheet, ns);
  else table_format(sheet, "-");
}

/* Columns of times that an epoch has; those of all but the first two only if any epoch has such a time. */
#define EPOCH_TIMES 5
static void epoch_times(const epoch_stats *epoch, uint64_t times[EPOCH_TIMES]) {
  const uint64_t all[EPOCH_TIMES] = {epoch->class_ns[TIME_INPUT], epoch->class_ns[TIME_COMPUTE],
                                     epoch->class_ns[TIME_COMM], epoch->class_ns[TIME_CHECKPOINT],
                                     epoch->evaluation_ns};
  memcpy(times, all, sizeof all);
}

static void print_epochs(FILE *out, const summary_answer *answer, uint32_t top) {
  static const char *const titles[EPOCH_TIMES] = {"waiting", "compute", "communication", "checkpoint", "evaluation"};
  table_column columns[5 + EPOCH_TIMES] = {{"epoch", 'r'}, {"job time", 'r'}, {"steps", 'r'}};
  table epochs = {.columns = columns, .column_count = 3};
  const summary_state *state = answer->state;
  const uint32_t count = state->epoch_numbers.count;
  const uint64_t trainers = answer->training.processes;
  uint64_t times[EPOCH_TIMES], sums[EPOCH_TIMES] = {1, 1};
  char note[SHOWN_BYTES + 64], more[SHOWN_BYTES];
  int is_sampled = 0, has_batches = 0; /* any epoch has samples; more batches */
  if (!answer->training.epochs) return;
  shown(more, top, count);
  snprintf(note, sizeof note, "%s%s%s",
           answer->training.is_sequence ? "means of trainings one after the other"
           : trainers > 1               ? "job time of all, others per trainer"
                                        : "",
           trainers > 1 && *more ? "; " : "", more);
  table_heading(out, "Training by epoch", note);
  for (uint32_t i = 1; i <= count && i <= top; i++) {
    epoch_times(&state->epochs[i], times);
    for (int j = 0; j < EPOCH_TIMES; j++) sums[j] += times[j];
    is_sampled |= answer->training.is_fetch_known && has_samples(&state->epochs[i], &answer->training);
    has_batches |= is_accumulating(state->epochs[i].batches, state->epochs[i].steps);
  }
  if (has_batches) columns[epochs.column_count++] = (table_column){"batches", 'r'};
  for (int j = 0; j < EPOCH_TIMES; j++)
    if (sums[j]) columns[epochs.column_count++] = (table_column){titles[j], j < 2 ? 'r' : 'o'};
  if (is_sampled) columns[epochs.column_count++] = (table_column){"samples/s", 'o'};
  for (uint32_t i = 1; i <= count && i <= top; i++) {
    const epoch_stats *epoch = &state->epochs[i];
    epoch_times(epoch, times);
    add_number(&epochs, (int64_t)state->epoch_numbers.keys[i].a);
    add_time(&epochs, job_time(epoch, &answer->training));
    add_count(&epochs, epoch->steps / trainers);
    if (has_batches) add_count(&epochs, epoch->batches / trainers);
    for (int j = 0; j < EPOCH_TIMES; j++)
      if (sums[j]) add_known(&epochs, times[j] / trainers, j > 0 || answer->training.is_fetch_known);
    if (is_sampled) add_samples(&epochs, epoch, &answer->training);
  }
  table_print(&epochs, out, 2);
}

static void add_rank(table *sheet, const summary_answer *answer, uint32_t process) {
  const state_process *found = &answer->state->processes[process];
  if (found->rank == NO_NUMBER) table_format(sheet, "pid %" PRIu64, found->pid);
  else table_format(sheet, "%" PRId64, found->rank);
}

static void print_ranks(FILE *out, const summary_answer *answer, uint32_t top) {
  static const table_column columns[] = {{"rank", 'r'},      {"loop", 'r'},          {"waiting", 'r'},
                                         {"compute", 'r'},   {"communication", 'o'}, {"checkpoint", 'o'},
                                         {"evaluation", 'o'}};
  table ranks = {.columns = columns, .column_count = 7};
  const trainer_list *list = &answer->trainers;
  char note[SHOWN_BYTES + 64], more[SHOWN_BYTES];
  if (list->count < 2) return;
  shown(more, top, list->count);
  snprintf(note, sizeof note, "shares of the loop without evaluation%s%s", *more ? "; " : "", more);
  table_heading(out, "Training by rank", note);
  for (uint32_t i = 0; i < list->count && i < top; i++) {
    const trainer_line *line = &list->lines[i];
    add_rank(&ranks, answer, line->process);
    add_time(&ranks, line->loop_ns);
    if (answer->training.is_fetch_known) add_share(&ranks, line->class_ns[TIME_INPUT], line->loop_ns);
    else table_format(&ranks, "-");
    add_share(&ranks, line->class_ns[TIME_COMPUTE], line->loop_ns);
    add_share(&ranks, line->class_ns[TIME_COMM], line->loop_ns);
    add_share(&ranks, line->class_ns[TIME_CHECKPOINT], line->loop_ns);
    add_time(&ranks, line->evaluation_ns);
  }
  table_print(&ranks, out, 2);
}

static uint64_t percentile(const summary_answer *answer, double share) {
  return histogram_percentile(&answer->trainers.durations, share, answer->grain_ns);
}

static void print_steps(FILE *out, const summary_answer *answer) {
  static const table_column columns[] = {{"steps", 'r'}, {"~median", 'r'}, {"~p95", 'r'}, {"~p99", 'r'}, {"max", 'r'}};
  table steps = {.columns = columns, .column_count = 5};
  const trainer_list *list = &answer->trainers;
  if (!list->durations.count) return;
  table_heading(out, "Training steps", list->count > 1 ? "of all trainers" : "");
  add_count(&steps, list->durations.count);
  add_time(&steps, percentile(answer, 0.5));
  add_time(&steps, percentile(answer, 0.95));
  add_time(&steps, percentile(answer, 0.99));
  add_time(&steps, list->durations.most);
  table_print(&steps, out, 2);
}

/* If no step is much slower than others, there is nothing to explain. */
static void print_slowest(FILE *out, const summary_answer *answer) {
  static const table_column columns[] = {{"rank", 'r'}, {"epoch", 'r'}, {"step", 'r'}, {"time", 'r'}, {"reason", 'l'}};
  table steps = {.columns = columns, .column_count = 5};
  const trainer_list *list = &answer->trainers;
  char text[FORMAT_BYTES];
  if (!list->durations.count || list->durations.most / 11 <= percentile(answer, 0.5) / 10) return;
  table_heading(out, "Slowest steps", "");
  for (uint32_t i = 0; i < list->slow_count && i < SLOW_SHOWN; i++) {
    const slow_line *line = &list->slowest[i];
    add_rank(&steps, answer, line->process);
    add_number(&steps, line->step->epoch);
    if (line->step->step == NO_NUMBER) table_format(&steps, "the %" PRIu64 ".", line->step->index);
    else table_format(&steps, "%" PRId64, line->step->step);
    add_time(&steps, line->step->ns);
    table_format(&steps, "%s, %s", time_class_word(line->reason),
                 format_duration(text, (double)line->step->class_ns[line->reason] / 1e9));
  }
  table_print(&steps, out, 2);
}

static void print_workers(FILE *out, const summary_answer *answer) {
  const trainer_list *list = &answer->trainers;
  trainer_workers all = {0}; /* sums of what is added up, else the most of any trainer */
  char line[192];
  for (uint32_t i = 0; i < list->count; i++) {
    const trainer_workers *own = &list->lines[i].workers;
    all.count += own->count;
    all.busy_ns += own->busy_ns;
    all.life_ns += own->life_ns;
    if (own->at_once > all.at_once) all.at_once = own->at_once;
    if (own->empty > all.empty) all.empty = own->empty;
    if (own->enough > all.enough) all.enough = own->enough;
  }
  if (!all.life_ns && !all.empty) return;
  table_heading(out, "Workers", "processes that load for a trainer, in its loop");
  if (all.life_ns) {
    const double busy = 100.0 * (double)all.busy_ns / (double)all.life_ns;
    snprintf(line, sizeof line,
             "%" PRIu32 " in all, up to %" PRIu32 " at once per trainer; busy %.1f %%, idle %.1f %% of their time",
             all.count, all.at_once, busy, 100.0 - busy);
    table_remark(out, 2, line);
  }
  if (all.empty) {
    snprintf(line, sizeof line, "up to %" PRIu32 " more per trainer found no data", all.empty);
    table_remark(out, 2, line);
  }
  if (!all.enough) return;
  snprintf(line, sizeof line,
           "%" PRIu64 " per trainer would suffice, if they were always busy, and each as fast as now", all.enough);
  table_remark(out, 2, line);
}

void summary_training(FILE *out, const summary_answer *answer, uint32_t top) {
  const training_totals *training = &answer->training;
  if (!training_exists(training) ||
      !(training->count[AI_FETCH] || training->epochs || training_has_updates(training) || answer->state->lost_fetches))
    return; /* a solver computes too */
  print_totals(out, answer);
  print_epochs(out, answer, top);
  print_ranks(out, answer, top);
  print_steps(out, answer);
  print_slowest(out, answer);
  print_workers(out, answer);
}
