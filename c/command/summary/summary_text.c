/* summary_text.c - the summary for people.
 * SPDX-License-Identifier: MIT */
#include "summary_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "answer.h"
#include "command/cli/printable.h"
#include "command/cli/table.h"
#include "command/cli/terminal.h"
#include "command/trace/trouble.h"

static void add_text(table *sheet, dft_text text) {
  if (text.len) table_add(sheet, text.text, text.len);
  else table_format(sheet, "-");
}

static void add_time(table *sheet, uint64_t ns) {
  char text[FORMAT_BYTES];
  table_format(sheet, "%s", ns ? format_duration(text, (double)ns / 1e9) : "0");
}

static void add_count(table *sheet, uint64_t count) {
  char text[FORMAT_BYTES];
  table_format(sheet, "%s", format_count(text, count));
}

static void add_bytes(table *sheet, uint64_t bytes) {
  char text[FORMAT_BYTES];
  table_format(sheet, "%s", bytes ? format_bytes(text, (double)bytes) : "-");
}

/* Bytes of transfers, some of which may be unknown. */
static void add_moved(table *sheet, uint64_t bytes, uint64_t unknown) {
  if (!bytes && unknown) table_format(sheet, "unknown");
  else add_bytes(sheet, bytes);
}

static void add_share(table *sheet, uint64_t part, uint64_t whole) {
  if (whole) table_format(sheet, "%.1f %%", 100.0 * (double)part / (double)whole);
  else table_format(sheet, "-");
}

static void add_rate(table *sheet, uint64_t bytes, uint64_t ns) {
  char text[FORMAT_BYTES];
  if (bytes && ns) table_format(sheet, "%s/s", format_bytes(text, (double)bytes * 1e9 / (double)ns));
  else table_format(sheet, "-");
}

/* "15 of 230; --top shows more" */
static const char *shown(char note[64], uint32_t top, uint32_t count) {
  note[0] = '\0';
  if (count > top) snprintf(note, 64, "%u of %u; --top N shows more", top, count);
  return note;
}

/* ---- The job -------------------------------------------------------------------------------------------------------- */

static void add_bar(table *sheet, uint64_t part, uint64_t whole) {
  const char *block = terminal_has_unicode() ? "\u2588" : "#";
  char bar[128] = "";
  size_t len = 0;
  int full = whole ? (int)(24.0 * (double)part / (double)whole + 0.5) : 0;
  for (int i = 0; i < full; i++) len += (size_t)snprintf(bar + len, sizeof bar - len, "%s", block);
  table_format(sheet, "%s", bar);
}

static void print_job(FILE *out, const summary_answer *answer) {
  static const table_column columns[] = {{"", 'l'}, {"time", 'r'}, {"share", 'r'}, {"", 'l'}};
  table split = {.columns = columns, .column_count = 4};
  uint64_t outside = answer->outside_ns;
  char text[FORMAT_BYTES], when[64] = "";
  uint32_t traces = answer->state->source_count, hosts = answer->state->host_numbers.count;
  uint32_t processes = answer->processes, threads = answer->state->thread_count;
  time_t start = (time_t)(answer->state->first / 1000000000);
  struct tm local;
  if (answer->state->first > 1000000000000000000 && localtime_r(&start, &local))
    strftime(when, sizeof when, ", %Y-%m-%d %H:%M:%S", &local);
  fprintf(out, "%s trace%s", format_count(text, traces), plural(traces));
  fprintf(out, ", %s event%s", format_count(text, answer->state->events), plural(answer->state->events));
  fprintf(out, ", %s process%s", format_count(text, processes), processes == 1 ? "" : "es");
  fprintf(out, ", %s thread%s", format_count(text, threads), plural(threads));
  if (hosts) fprintf(out, ", %s host%s", format_count(text, hosts), plural(hosts));
  fprintf(out, "\njob time %s%s\n", format_duration(text, (double)answer->job_ns / 1e9), when);
  table_heading(out, "Where the time of all threads went", "");
  const struct {
    const char *what;
    uint64_t ns;
  } rows[] = {
    {"regions", answer->region_ns}, {"I/O calls", answer->io_ns}, {"outside", outside}, {"all", answer->thread_ns}};
  for (size_t i = 0; i < 4; i++) {
    int is_missing = i == 1 && !io_stats_calls(&answer->io);
    table_format(&split, "%s", rows[i].what);
    if (is_missing) table_format(&split, "not recorded");
    else add_time(&split, rows[i].ns);
    add_share(&split, rows[i].ns, is_missing ? 0 : answer->thread_ns);
    if (i < 3) add_bar(&split, rows[i].ns, answer->thread_ns);
    else table_format(&split, " ");
  }
  table_print(&split, out, 2);
}

/* ---- Events --------------------------------------------------------------------------------------------------------- */

static void print_groups(FILE *out, const summary_answer *answer, uint32_t top) {
  table_column columns[TABLE_COLUMNS] = {{"", 't'}, {"", 't'}};
  table events = {.columns = columns};
  const char *const titles[] = {"count", "total", "self", "mean", "median", "p95", "max", "share"};
  const char *one, *two;
  char title[64], note[64];
  uint32_t count;
  uint64_t busy = answer->region_ns + answer->io_ns;
  int texts;
  answer_group *groups = answer_groups(answer->state, &count);
  answer_titles(answer->state->question.by, &one, &two);
  texts = two ? 2 : 1;
  columns[0] = (table_column){one, answer->state->question.by == BY_FILE ? 'p' : 't'};
  if (two) columns[1] = (table_column){two, 't'};
  for (int i = 0; i < 8; i++) columns[texts + i] = (table_column){titles[i], i == 3 ? 'o' : i == 7 ? 'k' : 'r'};
  events.column_count = texts + 8;
  snprintf(title, sizeof title, "Events by %s", one);
  table_heading(out, title, shown(note, top, count));
  for (uint32_t i = 0; groups && i < count && i < top; i++) {
    const group_stats *stats = groups[i].stats;
    answer_label first, second;
    answer_group_labels(answer->state, groups[i].number, &first, &second);
    add_text(&events, first.text);
    if (two) add_text(&events, second.text);
    add_count(&events, stats->durations.count);
    add_time(&events, stats->total_ns);
    add_time(&events, stats->self_ns);
    add_time(&events, stats->total_ns / stats->durations.count);
    add_time(&events, histogram_percentile(&stats->durations, 0.5, answer->grain_ns));
    add_time(&events, histogram_percentile(&stats->durations, 0.95, answer->grain_ns));
    add_time(&events, stats->durations.most);
    add_share(&events, stats->self_ns, busy);
  }
  if (count) table_print(&events, out, 2);
  else
    fprintf(out, "  none%s\n",
            answer->state->metadata || answer->state->counters ? ": the traces have no events that match" : "");
  free(groups);
}

/* ---- I/O ------------------------------------------------------------------------------------------------------------ */

static void add_io(table *sheet, const io_stats *io) {
  uint64_t ns = io_stats_ns(io);
  add_count(sheet, io_stats_calls(io));
  add_time(sheet, ns);
  add_moved(sheet, io->read_bytes, io->unknown_reads);
  add_rate(sheet, io->read_bytes, io->read_ns);
  add_moved(sheet, io->write_bytes, io->unknown_writes);
  add_rate(sheet, io->write_bytes, io->write_ns);
  add_bytes(sheet, histogram_percentile(&io->sizes, 0.5, 1));
  add_share(sheet, io->sequential, io->sequential + io->random);
  add_share(sheet, io->other_ns, ns);
}

static void print_io_list(FILE *out, const summary_answer *answer, const answer_io *list, uint32_t count, uint32_t top,
                          int is_files) {
  table_column columns[] = {{is_files ? "file" : "process", is_files ? 'p' : 't'},
                            {"calls", 'r'},
                            {"time", 'r'},
                            {"read", 'r'},
                            {"per call", 'r'},
                            {"written", 'r'},
                            {"per call", 'o'},
                            {"median", 'o'},
                            {"in seq.", 'r'},
                            {"meta", 'o'}};
  table lines = {.columns = columns, .column_count = 10};
  char note[64];
  table_heading(out, is_files ? "I/O by file" : "I/O by process", shown(note, top, count));
  for (uint32_t i = 0; i < count && i < top; i++) {
    answer_label label;
    if (is_files) label.text = answer_file(answer->state, list[i].number);
    else answer_process_label(answer->state, list[i].number, &label);
    add_text(&lines, label.text);
    add_io(&lines, list[i].stats);
  }
  if (count > 1) {
    table_format(&lines, "all");
    add_io(&lines, &answer->io);
  }
  table_print(&lines, out, 2);
}

static void print_failures(FILE *out, const summary_answer *answer, uint32_t top) {
  static const table_column columns[] = {{"call", 'l'}, {"calls", 'r'}, {"error", 'l'}, {"file", 'p'}};
  table lines = {.columns = columns, .column_count = 4};
  const summary_state *state = answer->state;
  char note[64], title[96], failed[FORMAT_BYTES], calls[FORMAT_BYTES];
  uint32_t count;
  answer_failure *list = answer_failures(state, &count);
  snprintf(title, sizeof title, "Failed calls, %s of %s", format_count(failed, answer->io.failed),
           format_count(calls, io_stats_calls(&answer->io)));
  if (count) table_heading(out, title, shown(note, top, count));
  for (uint32_t i = 0; i < count && i < top; i++) {
    dft_text name = state_text_of(state, list[i].name), file = answer_file_of(state, list[i].file);
    table_add(&lines, name.text, name.len);
    add_count(&lines, list[i].count);
    table_format(&lines, "%s", list[i].error ? strerror((int)list[i].error) : "unknown");
    table_add(&lines, file.text, file.len);
  }
  if (count) table_print(&lines, out, 2);
  free(list);
}

/* The rate of a job is its bytes divided by the time in which any process transferred. */
static void print_job_io(FILE *out, const summary_answer *answer) {
  static const table_column columns[] = {
    {"", 'l'}, {"bytes", 'r'}, {"per call", 'r'}, {"as a job", 'r'}, {"busy", 'r'}};
  table lines = {.columns = columns, .column_count = 5};
  const io_stats *io = &answer->io;
  if (!io->read_bytes && !io->write_bytes) return;
  table_heading(out, "I/O of the job", "busy: any process transferred");
  for (int is_write = 0; is_write < 2; is_write++) {
    uint64_t bytes = is_write ? io->write_bytes : io->read_bytes;
    uint64_t busy_ns = is_write ? answer->writing_ns : answer->reading_ns;
    table_format(&lines, "%s", is_write ? "written" : "read");
    add_bytes(&lines, bytes);
    add_rate(&lines, bytes, is_write ? io->write_ns : io->read_ns);
    add_rate(&lines, bytes, busy_ns);
    add_time(&lines, busy_ns);
  }
  table_print(&lines, out, 2);
}

static void print_io(FILE *out, const summary_answer *answer, uint32_t top) {
  uint32_t count;
  answer_io *list = answer_files(answer->state, &count);
  if (list && count) print_io_list(out, answer, list, count, top, 1);
  free(list);
  list = answer_processes(answer->state, &count);
  if (list && count) {
    print_io_list(out, answer, list, count, top, 0);
    print_job_io(out, answer);
    print_failures(out, answer, top);
  }
  free(list);
}

/* ---- Training ------------------------------------------------------------------------------------------------------- */

static void print_epochs(FILE *out, const summary_answer *answer, uint32_t top) {
  static const table_column columns[] = {{"epoch", 'r'}, {"job time", 'r'}, {"fetches", 'r'},
                                         {"fetch", 'r'}, {"computes", 'r'}, {"compute", 'r'}};
  table epochs = {.columns = columns, .column_count = 6};
  const summary_state *state = answer->state;
  const uint32_t count = state->epoch_numbers.count;
  const uint64_t trainers = answer->training.processes;
  char note[64];
  if (!answer->training.epochs) return;
  table_heading(out, trainers == 1 ? "Training by epoch" : "Training by epoch, mean of trainers",
                shown(note, top, count));
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
    {"waiting for data", training->wait_ns, training->loop_ns, "fetching while nothing computes",
     !training->is_fetch_known},
    {"loading", training->data_ns, training->loop_ns, "reading and preparing samples", 0},
    {"hidden", training->hidden_ns, training->data_ns, "of the loading, while something computes", 0},
    {"communication", training->ns[AI_COMM], training->loop_ns, "", 0},
    {"device", training->ns[AI_DEVICE], training->loop_ns, "", 0},
    {"checkpoint", training->ns[AI_CHECKPOINT], training->loop_ns, "", 0},
    {"tear-down", training->teardown_ns, 0, "after the training loop", 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    int is_optional = strcmp(rows[i].what, "loading") == 0 || i > 6;
    if (strcmp(rows[i].what, "hidden") == 0 ? !training->data_ns : is_optional && !rows[i].ns && rows[i].whole_ns)
      continue;
    table_format(&split, "%s", rows[i].what);
    if (rows[i].is_unknown) {
      table_format(&split, "unknown");
      table_format(&split, "-");
    } else {
      add_time(&split, rows[i].ns / trainers);
      add_share(&split, rows[i].ns, rows[i].whole_ns);
    }
    table_format(&split, "%s", rows[i].note);
  }
  table_print(&split, out, 2);
  print_epochs(out, answer, top);
}

/* ---- Notes ---------------------------------------------------------------------------------------------------------- */

/* Long enough not to be the time between two programs of a script. */
static int is_between_runs(const summary_answer *answer) {
  return answer->pause_ns >= 1000000000u && answer->pause_ns >= answer->job_ns / 5;
}

#define PROBLEMS_SHOWN 10u

void summary_print_problems(FILE *out, const char *before, const summary_state *state) {
  uint64_t told = 0;
  uint32_t shown = 0, refused = 0;
  for (uint32_t i = 0; shown < PROBLEMS_SHOWN && i < state->problem_count; i++, told++) {
    const state_problem *problem = &state->problems[i];
    const char *path = state_text_of(state, problem->path).text;
    dft_problem told_problem = {.kind = problem->kind,
                                .byte = problem->byte,
                                .line = problem->line,
                                .error = (int32_t)problem->error,
                                .message = dft_problem_text(problem->kind),
                                .detail = path};
    if (problem->is_refusal && problem->path == refused) continue;
    if (problem->is_refusal) fprintf(out, "%s%s: %s\n", before, printable(path), trouble_refusal(path));
    else trouble_print_at(out, before, problem->has_source ? path : NULL, &told_problem);
    if (problem->is_refusal) {
      refused = problem->path;
      told += problem->beyond;
    }
    shown++;
  }
  if (state->all_problems > told)
    fprintf(out, "%s%" PRIu64 " more problem%s\n", before, state->all_problems - told,
            plural(state->all_problems - told));
}

static void print_notes(FILE *out, const summary_answer *answer) {
  const summary_state *state = answer->state;
  char text[FORMAT_BYTES];
  const uint64_t unknown = io_stats_unknown(&answer->io);
  const uint64_t mapped = answer->io.mapped_bytes;
  if (!unknown && !mapped && !state->all_problems && !state->dropped && !state->recovered && !state->others &&
      !is_between_runs(answer))
    return;
  table_heading(out, "Notes", "");
  if (is_between_runs(answer))
    fprintf(out, "  nothing was running for %s in between: are these traces of more than one run?\n",
            format_duration(text, (double)answer->pause_ns / 1e9));
  if (state->dropped)
    fprintf(out, "  %s event%s dropped while tracing, because there was no space left\n",
            format_count(text, state->dropped), state->dropped == 1 ? " was" : "s were");
  if (state->recovered)
    fprintf(out, "  %s trace%s recovered after the process died\n", format_count(text, state->recovered),
            state->recovered == 1 ? " was" : "s were");
  if (unknown)
    fprintf(out, "  the bytes of %s transfer%s are unknown: the trace does not tell them\n",
            format_count(text, unknown), plural(unknown));
  if (mapped)
    fprintf(out, "  %s of files were mapped into memory: what was read and written there is not seen\n",
            format_bytes(text, (double)mapped));
  if (state->others) fprintf(out, "  %s records of other kinds were not counted\n", format_count(text, state->others));
  summary_print_problems(out, "  ", state);
}

void summary_text(FILE *out, const summary_answer *answer, uint32_t top, int is_whole) {
  print_job(out, answer);
  print_groups(out, answer, top);
  if (is_whole) {
    print_io(out, answer, top);
    print_training(out, answer, top);
  }
  print_notes(out, answer);
}
