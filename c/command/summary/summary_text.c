/* summary_text.c - the summary for people.
 * SPDX-License-Identifier: MIT */
#include "summary_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "answer.h"
#include "command/cli/table.h"
#include "command/cli/terminal.h"
#include "command/trace/trouble.h"

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

static void print_job(FILE *out, const trace_totals *totals) {
  static const table_column columns[] = {{"", 'l'}, {"time", 'r'}, {"share", 'r'}, {"", 'l'}};
  table split = {.columns = columns, .column_count = 4};
  uint64_t outside = totals_outside_ns(totals);
  char text[FORMAT_BYTES], when[64] = "";
  uint32_t traces = dft_reader_source_count(totals->shared.reader),
           hosts = dft_reader_text_count(totals->shared.reader, DFT_HOSTS) - 1;
  uint32_t processes = answer_process_count(totals), threads = totals->shared.thread_numbers.count;
  time_t start = (time_t)(totals->counts.first / 1000000000);
  struct tm local;
  if (totals->counts.first > 1000000000000000000 && localtime_r(&start, &local))
    strftime(when, sizeof when, ", %Y-%m-%d %H:%M:%S", &local);
  fprintf(out, "%s trace%s", format_count(text, traces), plural(traces));
  fprintf(out, ", %s event%s", format_count(text, totals->counts.events), plural(totals->counts.events));
  fprintf(out, ", %s process%s", format_count(text, processes), processes == 1 ? "" : "es");
  fprintf(out, ", %s thread%s", format_count(text, threads), plural(threads));
  if (hosts) fprintf(out, ", %s host%s", format_count(text, hosts), plural(hosts));
  fprintf(out, "\njob time %s%s\n", format_duration(text, (double)totals_job_ns(totals) / 1e9), when);
  table_heading(out, "Where the time of all threads went", "");
  const struct {
    const char *what;
    uint64_t ns;
  } rows[] = {
    {"regions", totals->region_ns}, {"I/O calls", totals->io_ns}, {"outside", outside}, {"all", totals->thread_ns}};
  for (size_t i = 0; i < 4; i++) {
    table_format(&split, "%s", rows[i].what);
    add_time(&split, rows[i].ns);
    add_share(&split, rows[i].ns, totals->thread_ns);
    if (i < 3) add_bar(&split, rows[i].ns, totals->thread_ns);
    else table_format(&split, " ");
  }
  table_print(&split, out, 2);
}

/* ---- Events --------------------------------------------------------------------------------------------------------- */

static void print_groups(FILE *out, const trace_totals *totals, uint32_t top) {
  table_column columns[TABLE_COLUMNS] = {{"", 't'}, {"", 't'}};
  table events = {.columns = columns};
  const char *const titles[] = {"count", "total", "self", "mean", "median", "p95", "max", "share"};
  const char *one, *two;
  char title[64], note[64];
  uint32_t count;
  uint64_t busy = totals->region_ns + totals->io_ns;
  int texts;
  answer_group *groups = answer_groups(totals, &count);
  answer_titles(totals->shared.question->by, &one, &two);
  texts = two ? 2 : 1;
  columns[0] = (table_column){one, totals->shared.question->by == BY_FILE ? 'p' : 't'};
  if (two) columns[1] = (table_column){two, 't'};
  for (int i = 0; i < 8; i++) columns[texts + i] = (table_column){titles[i], i == 3 || i == 7 ? 'o' : 'r'};
  events.column_count = texts + 8;
  snprintf(title, sizeof title, "Events by %s", one);
  table_heading(out, title, shown(note, top, count));
  for (uint32_t i = 0; groups && i < count && i < top; i++) {
    const group_stats *stats = groups[i].stats;
    char first[LABEL_BYTES], second[LABEL_BYTES];
    answer_label(totals, groups[i].number, first, second);
    table_add(&events, *first ? first : "-", *first ? strlen(first) : 1);
    if (two) table_add(&events, *second ? second : "-", *second ? strlen(second) : 1);
    add_count(&events, stats->durations.count);
    add_time(&events, stats->total_ns);
    add_time(&events, stats->self_ns);
    add_time(&events, stats->total_ns / stats->durations.count);
    add_time(&events, histogram_percentile(&stats->durations, 0.5, totals->grain_ns));
    add_time(&events, histogram_percentile(&stats->durations, 0.95, totals->grain_ns));
    add_time(&events, stats->durations.most);
    add_share(&events, stats->self_ns, busy);
  }
  if (count) table_print(&events, out, 2);
  else
    fprintf(out, "  none%s\n",
            totals->counts.metadata || totals->counts.counters ? ": the traces have no events that match" : "");
  free(groups);
}

/* ---- I/O ------------------------------------------------------------------------------------------------------------ */

static void add_io(table *sheet, const io_stats *io) {
  uint64_t ns = io_stats_ns(io);
  add_count(sheet, io_stats_calls(io));
  add_time(sheet, ns);
  add_bytes(sheet, io->read_bytes);
  add_rate(sheet, io->read_bytes, io->read_ns);
  add_bytes(sheet, io->write_bytes);
  add_rate(sheet, io->write_bytes, io->write_ns);
  add_bytes(sheet, histogram_percentile(&io->sizes, 0.5, 1));
  add_share(sheet, io->sequential, io->sequential + io->random);
  add_share(sheet, io->other_ns, ns);
}

static void print_io_list(FILE *out, const trace_totals *totals, const answer_io *list, uint32_t count, uint32_t top,
                          int is_files) {
  table_column columns[] = {{is_files ? "file" : "process", is_files ? 'p' : 't'},
                            {"calls", 'r'},
                            {"time", 'r'},
                            {"read", 'r'},
                            {"at", 'r'},
                            {"written", 'r'},
                            {"at", 'o'},
                            {"median", 'o'},
                            {"in seq.", 'r'},
                            {"meta", 'o'}};
  table lines = {.columns = columns, .column_count = 10};
  char note[64];
  table_heading(out, is_files ? "I/O by file" : "I/O by process", shown(note, top, count));
  for (uint32_t i = 0; i < count && i < top; i++) {
    char label[LABEL_BYTES];
    dft_text file = answer_file(totals, list[i].number);
    if (!is_files) answer_process_label(totals, list[i].number, label);
    table_add(&lines, is_files ? file.text : label, is_files ? file.len : strlen(label));
    add_io(&lines, list[i].stats);
  }
  if (count > 1) {
    io_stats all = answer_all_io(totals);
    table_format(&lines, "all");
    add_io(&lines, &all);
    histogram_free(&all.sizes);
  }
  table_print(&lines, out, 2);
}

static void print_io(FILE *out, const trace_totals *totals, uint32_t top) {
  uint32_t count;
  answer_io *list = answer_files(totals, &count);
  if (list && count) print_io_list(out, totals, list, count, top, 1);
  free(list);
  list = answer_processes(totals, &count);
  if (list && count) print_io_list(out, totals, list, count, top, 0);
  free(list);
}

/* ---- Training ------------------------------------------------------------------------------------------------------- */

static void print_epochs(FILE *out, const trace_totals *totals, uint32_t top) {
  static const table_column columns[] = {{"epoch", 'r'}, {"time", 'r'},     {"fetches", 'r'},
                                         {"fetch", 'r'}, {"computes", 'r'}, {"compute", 'r'}};
  table epochs = {.columns = columns, .column_count = 6};
  uint32_t count;
  answer_epoch *list = answer_epochs(totals, &count);
  for (uint32_t i = 0; list && i < count && i < top; i++) {
    const epoch_stats *epoch = list[i].stats;
    table_format(&epochs, "%" PRId64, list[i].epoch);
    add_time(&epochs, (uint64_t)(epoch->last - epoch->first));
    add_count(&epochs, epoch->fetches);
    add_time(&epochs, epoch->fetch_ns);
    add_count(&epochs, epoch->computes);
    add_time(&epochs, epoch->compute_ns);
  }
  if (list && count) {
    fputc('\n', out);
    table_print(&epochs, out, 2);
    if (count > top) fprintf(out, "  %u of %u; --top N shows more\n", top, count);
  }
  free(list);
}

static void print_training(FILE *out, const trace_totals *totals, uint32_t top) {
  static const table_column columns[] = {{"", 'l'}, {"time", 'r'}, {"share", 'r'}, {"", 't'}};
  table split = {.columns = columns, .column_count = 4};
  const training_totals *training = &totals->training;
  char note[96];
  uint64_t whole_ns = totals_job_ns(totals) * training->processes;
  if (!training_exists(training) || !(training->count[AI_FETCH] || training->epochs))
    return; /* a solver computes too */
  snprintf(note, sizeof note, "%" PRIu64 " process%s, %" PRIu64 " epoch%s, %" PRIu64 " step%s", training->processes,
           training->processes == 1 ? "" : "es", training->epochs, plural(training->epochs), training->steps,
           plural(training->steps));
  table_heading(out, "Training", note);
  const struct {
    const char *what;
    uint64_t ns, whole_ns;
    const char *note;
  } rows[] = {
    {"compute", training->compute_ns, whole_ns, "of the processes' time"},
    {"fetch", training->fetch_ns, whole_ns, ""},
    {"waiting for data", training->wait_ns, whole_ns, "fetching while nothing computes"},
    {"loading", training->data_ns, whole_ns, "reading and preparing samples"},
    {"hidden", training->hidden_ns, training->data_ns, "of the loading, while something computes"},
    {"communication", training->ns[AI_COMM], whole_ns, ""},
    {"device", training->ns[AI_DEVICE], whole_ns, ""},
    {"checkpoint", training->ns[AI_CHECKPOINT], whole_ns, ""},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (i > 2 && !rows[i].ns && !(i == 4 && training->data_ns)) continue;
    table_format(&split, "%s", rows[i].what);
    add_time(&split, rows[i].ns);
    add_share(&split, rows[i].ns, rows[i].whole_ns);
    table_format(&split, "%s", rows[i].note);
  }
  table_print(&split, out, 2);
  print_epochs(out, totals, top);
}

/* ---- Notes ---------------------------------------------------------------------------------------------------------- */

/* Long enough not to be the time between two programs of a script. */
static int is_between_runs(const trace_totals *totals, uint64_t pause_ns) {
  return pause_ns >= 1000000000u && pause_ns >= totals_job_ns(totals) / 5;
}

static void print_notes(FILE *out, const trace_totals *totals) {
  const tally *counts = &totals->counts;
  uint64_t problems = dft_reader_problem_count(totals->shared.reader, 0);
  uint64_t pause_ns = answer_pause_ns(totals);
  char text[FORMAT_BYTES];
  if (!problems && !counts->dropped && !counts->recovered && !counts->others && !totals->overrun &&
      !is_between_runs(totals, pause_ns))
    return;
  table_heading(out, "Notes", "");
  if (is_between_runs(totals, pause_ns))
    fprintf(out, "  nothing was running for %s in between: are these traces of more than one run?\n",
            format_duration(text, (double)pause_ns / 1e9));
  if (counts->dropped)
    fprintf(out, "  %s event%s dropped while tracing, because there was no space left\n",
            format_count(text, counts->dropped), counts->dropped == 1 ? " was" : "s were");
  if (counts->recovered)
    fprintf(out, "  %s trace%s recovered after the process died\n", format_count(text, counts->recovered),
            counts->recovered == 1 ? " was" : "s were");
  if (counts->others)
    fprintf(out, "  %s records of other kinds were not counted\n", format_count(text, counts->others));
  if (totals->overrun)
    fprintf(out, "  steps are approximate: more events wait for the end of their step than are kept\n");
  trouble_print_all(out, "  ", totals->shared.reader, 10);
}

void summary_text(FILE *out, const trace_totals *totals, uint32_t top, int is_whole) {
  print_job(out, totals);
  print_groups(out, totals, top);
  if (is_whole) {
    print_io(out, totals, top);
    print_training(out, totals, top);
  }
  print_notes(out, totals);
}
