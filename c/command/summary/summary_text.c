/* summary_text.c - the summary for people.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command/cli/table.h"
#include "command/cli/terminal.h"
#include "command/trace/trouble.h"
#include "summary.h"

static void add_time(table *of, uint64_t ns) {
  char text[FORMAT_BYTES];
  table_format(of, "%s", ns ? format_duration(text, (double)ns / 1e9) : "0");
}

static void add_count(table *of, uint64_t count) {
  char text[FORMAT_BYTES];
  table_format(of, "%s", format_count(text, count));
}

static void add_bytes(table *of, uint64_t bytes) {
  char text[FORMAT_BYTES];
  table_format(of, "%s", bytes ? format_bytes(text, (double)bytes) : "-");
}

static void add_share(table *of, uint64_t part, uint64_t whole) {
  if (whole) table_format(of, "%.1f %%", 100.0 * (double)part / (double)whole);
  else table_format(of, "-");
}

static void add_rate(table *of, uint64_t bytes, uint64_t ns) {
  char text[FORMAT_BYTES];
  if (bytes && ns) table_format(of, "%s/s", format_bytes(text, (double)bytes * 1e9 / (double)ns));
  else table_format(of, "-");
}

/* "15 of 230; --top shows more" */
static const char *shown(char note[64], uint32_t top, uint32_t count) {
  note[0] = '\0';
  if (count > top) snprintf(note, 64, "%u of %u; --top N shows more", top, count);
  return note;
}

/* ---- The job -------------------------------------------------------------------------------------------------------- */

static void add_bar(table *of, uint64_t part, uint64_t whole) {
  const char *block = terminal_has_unicode() ? "\u2588" : "#";
  char bar[128] = "";
  size_t len = 0;
  int full = whole ? (int)(24.0 * (double)part / (double)whole + 0.5) : 0;
  for (int i = 0; i < full; i++) len += (size_t)snprintf(bar + len, sizeof bar - len, "%s", block);
  table_format(of, "%s", bar);
}

static void print_job(FILE *out, job *of) {
  static const table_column columns[] = {{"", 'l'}, {"time", 'r'}, {"share", 'r'}, {"", 'l'}};
  table split = {.columns = columns, .column_count = 4};
  uint64_t outside = of->thread_ns - of->region_ns - of->io_ns;
  char text[FORMAT_BYTES], when[64] = "";
  uint32_t traces = dft_reader_source_count(of->reader), hosts = dft_reader_text_count(of->reader, DFT_HOSTS) - 1;
  uint32_t processes = answer_process_count(of), threads = of->thread_numbers.count;
  time_t start = (time_t)(of->all.first / 1000000000);
  struct tm local;
  if (of->all.first > 1000000000000000000 && localtime_r(&start, &local))
    strftime(when, sizeof when, ", %Y-%m-%d %H:%M:%S", &local);
  fprintf(out, "%s trace%s", format_count(text, traces), plural(traces));
  fprintf(out, ", %s event%s", format_count(text, of->all.events), plural(of->all.events));
  fprintf(out, ", %s process%s", format_count(text, processes), processes == 1 ? "" : "es");
  fprintf(out, ", %s thread%s", format_count(text, threads), plural(threads));
  if (hosts) fprintf(out, ", %s host%s", format_count(text, hosts), plural(hosts));
  fprintf(out, "\njob time %s%s\n", format_duration(text, (double)(of->all.last - of->all.first) / 1e9), when);
  table_heading(out, "Where the time of all threads went", "");
  const struct {
    const char *what;
    uint64_t ns;
  } rows[] = {{"regions", of->region_ns}, {"I/O calls", of->io_ns}, {"outside", outside}, {"all", of->thread_ns}};
  for (size_t i = 0; i < 4; i++) {
    table_format(&split, "%s", rows[i].what);
    add_time(&split, rows[i].ns);
    add_share(&split, rows[i].ns, of->thread_ns);
    if (i < 3) add_bar(&split, rows[i].ns, of->thread_ns);
    else table_format(&split, " ");
  }
  table_print(&split, out, 2);
}

/* ---- Events --------------------------------------------------------------------------------------------------------- */

static void print_groups(FILE *out, job *of, uint32_t top) {
  table_column columns[TABLE_COLUMNS] = {{"", 't'}, {"", 't'}};
  table events = {.columns = columns};
  const char *const titles[] = {"count", "total", "self", "mean", "median", "p95", "max", "share"};
  const char *one, *two;
  char title[64], note[64];
  uint32_t count;
  uint64_t busy = of->region_ns + of->io_ns;
  int texts;
  answer_group *groups = answer_groups(of, &count);
  answer_titles(of->question->by, &one, &two);
  texts = two ? 2 : 1;
  columns[0] = (table_column){one, of->question->by == BY_FILE ? 'p' : 't'};
  if (two) columns[1] = (table_column){two, 't'};
  for (int i = 0; i < 8; i++) columns[texts + i] = (table_column){titles[i], i == 3 || i == 7 ? 'o' : 'r'};
  events.column_count = texts + 8;
  snprintf(title, sizeof title, "Events by %s", one);
  table_heading(out, title, shown(note, top, count));
  for (uint32_t i = 0; groups && i < count && i < top; i++) {
    const group_stats *stats = groups[i].stats;
    char first[LABEL_BYTES], second[LABEL_BYTES];
    answer_label(of, groups[i].number, first, second);
    table_add(&events, *first ? first : "-", *first ? strlen(first) : 1);
    if (two) table_add(&events, *second ? second : "-", *second ? strlen(second) : 1);
    add_count(&events, stats->durations.count);
    add_time(&events, stats->total_ns);
    add_time(&events, stats->self_ns);
    add_time(&events, stats->total_ns / stats->durations.count);
    add_time(&events, histogram_percentile(&stats->durations, 0.5, of->grain));
    add_time(&events, histogram_percentile(&stats->durations, 0.95, of->grain));
    add_time(&events, stats->durations.most);
    add_share(&events, stats->self_ns, busy);
  }
  if (count) table_print(&events, out, 2);
  else
    fprintf(out, "  none%s\n", of->all.metadata || of->all.counters ? ": no event was chosen, or there is none" : "");
  free(groups);
}

/* ---- I/O ------------------------------------------------------------------------------------------------------------ */

static void add_io(table *of, const io_stats *io) {
  uint64_t calls = io->reads + io->writes + io->others, ns = io->read_ns + io->write_ns + io->other_ns;
  add_count(of, calls);
  add_time(of, ns);
  add_bytes(of, io->read_bytes);
  add_rate(of, io->read_bytes, io->read_ns);
  add_bytes(of, io->write_bytes);
  add_rate(of, io->write_bytes, io->write_ns);
  add_bytes(of, histogram_percentile(&io->sizes, 0.5, 1));
  add_share(of, io->sequential, io->sequential + io->random);
  add_share(of, io->other_ns, ns);
}

static void print_io_list(FILE *out, job *of, const answer_io *list, uint32_t count, uint32_t top, int is_files) {
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
    dft_text file = answer_file(of, list[i].number);
    if (!is_files) answer_process_label(of, list[i].number, label);
    table_add(&lines, is_files ? file.text : label, is_files ? file.len : strlen(label));
    add_io(&lines, list[i].stats);
  }
  if (count > 1) {
    io_stats all = answer_all_io(of);
    table_format(&lines, "all");
    add_io(&lines, &all);
    histogram_free(&all.sizes);
  }
  table_print(&lines, out, 2);
}

static void print_io(FILE *out, job *of, uint32_t top) {
  uint32_t count;
  answer_io *list = answer_files(of, &count);
  if (list && count) print_io_list(out, of, list, count, top, 1);
  free(list);
  list = answer_processes(of, &count);
  if (list && count) print_io_list(out, of, list, count, top, 0);
  free(list);
}

/* ---- Training ------------------------------------------------------------------------------------------------------- */

static void print_epochs(FILE *out, const job *of, uint32_t top) {
  static const table_column columns[] = {{"epoch", 'r'}, {"time", 'r'},     {"fetches", 'r'},
                                         {"fetch", 'r'}, {"computes", 'r'}, {"compute", 'r'}};
  table epochs = {.columns = columns, .column_count = 6};
  uint32_t count;
  answer_epoch *list = answer_epochs(of, &count);
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

static void print_training(FILE *out, job *of, uint32_t top) {
  static const table_column columns[] = {{"", 'l'}, {"time", 'r'}, {"share", 'r'}, {"", 't'}};
  table split = {.columns = columns, .column_count = 4};
  answer_training all;
  char note[96];
  uint64_t whole;
  if (!answer_train(of, &all) || !(all.count[AI_FETCH] || all.epochs)) return; /* a solver computes too */
  snprintf(note, sizeof note, "%" PRIu64 " process%s, %" PRIu64 " epoch%s, %" PRIu64 " step%s", all.processes,
           all.processes == 1 ? "" : "es", all.epochs, plural(all.epochs), all.steps, plural(all.steps));
  table_heading(out, "Training", note);
  whole = (uint64_t)(of->all.last - of->all.first) * all.processes;
  const struct {
    const char *what;
    uint64_t ns, of;
    const char *note;
  } rows[] = {
    {"compute", all.compute_ns, whole, "of the processes' time"},
    {"fetch", all.fetch_ns, whole, ""},
    {"waiting for data", all.wait_ns, whole, "fetching while nothing computes"},
    {"loading", all.data_ns, whole, "reading and preparing samples"},
    {"hidden", all.hidden_ns, all.data_ns, "of the loading, behind compute"},
    {"communication", all.ns[AI_COMM], whole, ""},
    {"device", all.ns[AI_DEVICE], whole, ""},
    {"checkpoint", all.ns[AI_CHECKPOINT], whole, ""},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (i > 2 && !rows[i].ns && !(i == 4 && all.data_ns)) continue;
    table_format(&split, "%s", rows[i].what);
    add_time(&split, rows[i].ns);
    add_share(&split, rows[i].ns, rows[i].of);
    table_format(&split, "%s", rows[i].note);
  }
  table_print(&split, out, 2);
  print_epochs(out, of, top);
}

/* ---- What is missing ------------------------------------------------------------------------------------------------ */

/* Long enough, and not just the time between two programs of a script. */
static int is_between_runs(const job *of, uint64_t pause_ns) {
  return pause_ns >= 1000000000u && pause_ns >= (uint64_t)(of->last - of->first) / 5;
}

static void print_problems(FILE *out, job *of) {
  uint64_t count = dft_reader_problem_count(of->reader, 0);
  uint64_t pause_ns = answer_pause_ns(of);
  answer_training training;
  char text[FORMAT_BYTES];
  answer_train(of, &training);
  if (!count && !of->all.dropped && !of->all.recovered && !of->all.others && !of->late && !of->merged && !of->overrun &&
      !training.closed_ns && !is_between_runs(of, pause_ns))
    return;
  table_heading(out, "Notes", "");
  if (is_between_runs(of, pause_ns))
    fprintf(out, "  nothing was running for %s in between: are these traces of more than one run?\n",
            format_duration(text, (double)pause_ns / 1e9));
  if (of->all.dropped)
    fprintf(out, "  %s events were dropped while tracing, for lack of space\n", format_count(text, of->all.dropped));
  if (of->all.recovered) {
    fprintf(out, "  %s trace%s of processes that died %s recovered\n", format_count(text, of->all.recovered),
            plural(of->all.recovered), of->all.recovered == 1 ? "was" : "were");
  }
  if (of->all.others)
    fprintf(out, "  %s records of other kinds were not counted\n", format_count(text, of->all.others));
  if (of->late)
    fprintf(out, "  %s events stand far from their place in the file: self times are approximate\n",
            format_count(text, of->late));
  if (of->merged) fprintf(out, "  self times are approximate: more gaps between events than are kept\n");
  if (of->overrun) fprintf(out, "  steps are approximate: more events wait for the end of theirs than are kept\n");
  if (training.closed_ns)
    fprintf(out, "  times of the training are approximate, by up to %s: more gaps than are kept\n",
            format_duration(text, (double)training.closed_ns / 1e9));
  trouble_print_all(out, "  ", of->reader, 10);
}

void summary_text(FILE *out, job *of, uint32_t top, int is_whole) {
  print_job(out, of);
  print_groups(out, of, top);
  if (is_whole) {
    print_io(out, of, top);
    print_training(out, of, top);
  }
  print_problems(out, of);
}
