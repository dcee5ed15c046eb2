/* iotables.c - the I/O by file, by process and of the job, and the calls that failed, for people.
 * SPDX-License-Identifier: MIT */
#include "iotables.h"

#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "command/cli/terminal.h"
#include "command/summary/answer/filegroups.h"

/* On a narrow terminal, the names of files and processes are worth more than the last columns. */
static const table_column number_columns[] = {
  {"calls", 'r'},      {"time", 'r'},    {"read", 'r'},    {"read rate", 'o'}, {"written", 'r'},
  {"write rate", 'o'}, {"~median", 'o'}, {"in seq.", 'o'}, {"meta", 'o'},      {"mapped", 'o'}};
#define NUMBER_COLUMNS (int)(sizeof number_columns / sizeof number_columns[0])

/* Appends the columns of numbers to those that `sheet` has. Files that were mapped need one more. */
static void add_columns(table *sheet, table_column *columns, int count, int has_mapped) {
  const int numbers = has_mapped ? NUMBER_COLUMNS : NUMBER_COLUMNS - 1;
  memcpy(columns + count, number_columns, (size_t)numbers * sizeof *columns);
  sheet->columns = columns;
  sheet->column_count = count + numbers;
}

static void add_io(table *sheet, const io_stats *io, int has_mapped) {
  uint64_t ns = io_stats_ns(io);
  char size[FORMAT_BYTES];
  add_count(sheet, io_stats_calls(io));
  add_time(sheet, ns);
  add_moved(sheet, io->read.bytes, io->read.unknown);
  add_rate(sheet, io->read.bytes, io->read.unknown, io->read.ns);
  add_moved(sheet, io->write.bytes, io->write.unknown);
  add_rate(sheet, io->write.bytes, io->write.unknown, io->write.ns);
  /* A file that is read to its end has transfers of 0 bytes. */
  table_format(sheet, "%s",
               io->sizes.count ? format_bytes(size, (double)histogram_percentile(&io->sizes, 0.5, 1)) : "-");
  add_share(sheet, io->sequential, io->sequential + io_stats_random(io));
  add_share(sheet, io->other_ns, ns);
  if (has_mapped) add_bytes(sheet, io->mapped_bytes);
}

static void print_files(FILE *out, const summary_answer *answer, const file_groups *groups, uint32_t top) {
  table_column columns[TABLE_COLUMNS] = {{"file", 'p'}, {"files", 'r'}};
  const int has_mapped = answer->io.mapped_bytes != 0;
  uint64_t files = groups->left_out;
  table lines = {0};
  char note[SHOWN_BYTES], remark[128];
  for (uint32_t i = 0; i < groups->count; i++) files += groups->list[i].files;
  const int has_groups = files > groups->count + groups->left_out;
  add_columns(&lines, columns, has_groups ? 2 : 1, has_mapped);
  table_heading(out, "I/O by file", shown(note, top, groups->count));
  for (uint32_t i = 0; i < groups->count && i < top; i++) {
    const file_group *group = &groups->list[i];
    add_text(&lines, group->label);
    if (has_groups) add_count(&lines, group->files);
    add_io(&lines, &group->io, has_mapped);
  }
  if (groups->count + groups->left_out > 1) {
    table_format(&lines, "all");
    if (has_groups) add_count(&lines, files);
    add_io(&lines, &answer->io, has_mapped);
  }
  table_print(&lines, out, 2);
  if (!groups->left_out) return;
  snprintf(remark, sizeof remark, "%u file%s of the MPI runtime %s not shown, but in \"all\"; --files lists every file",
           groups->left_out, plural(groups->left_out), groups->left_out == 1 ? "is" : "are");
  table_remark(out, 2, remark);
}

static void print_processes(FILE *out, const summary_answer *answer, const answer_io *list, uint32_t count,
                            uint32_t top) {
  table_column columns[TABLE_COLUMNS];
  const process_columns process = process_columns_of(answer->state);
  const int has_mapped = answer->io.mapped_bytes != 0;
  const int texts = process_columns_title(&process, columns);
  table lines = {0};
  char note[SHOWN_BYTES];
  add_columns(&lines, columns, texts, has_mapped);
  table_heading(out, "I/O by process", shown(note, top, count));
  for (uint32_t i = 0; i < count && i < top; i++) {
    process_columns_add(&process, &lines, answer->state, list[i].number);
    add_io(&lines, list[i].stats, has_mapped);
  }
  if (count > 1) {
    table_format(&lines, "all");
    for (int i = 1; i < texts; i++) table_format(&lines, " ");
    add_io(&lines, &answer->io, has_mapped);
  }
  table_print(&lines, out, 2);
}

/* ---- Failed calls ---------------------------------------------------------------------------------------------------- */

#define IS_GROUP (1u << 31)    /* beside the number of a group, to tell it from the hash of a file */
#define IS_LEFT_OUT UINT32_MAX /* all files that are left out, in one line */

static uint32_t place_of(const summary_state *state, const file_groups *groups, uint32_t hash) {
  uint32_t file = numbering_find(&state->file_numbers, hash, 0);
  uint32_t group = file && groups->of_file ? groups->of_file[file] : 0;
  if (group == FILE_LEFT_OUT) return IS_LEFT_OUT;
  return group ? IS_GROUP | (group - 1) : hash;
}

static dft_text place_label(const summary_state *state, const file_groups *groups, uint32_t place) {
  static const char runtime[] = "(MPI runtime)";
  if (place == IS_LEFT_OUT) return (dft_text){runtime, sizeof runtime - 1};
  return place & IS_GROUP ? groups->list[place & ~IS_GROUP].label : answer_file_of(state, place);
}

static int by_count(const void *a, const void *b) {
  const answer_failure *one = a, *two = b;
  if (one->count != two->count) return one->count > two->count ? -1 : 1;
  if (one->name != two->name) return one->name < two->name ? -1 : 1;
  if (one->file != two->file) return one->file < two->file ? -1 : 1;
  return (one->error > two->error) - (one->error < two->error);
}

/* Makes one of the failures that differ only in files of one group: `file` becomes the place. Returns how many there are. */
static uint32_t join_failures(const summary_state *state, const file_groups *groups, answer_failure *list,
                              uint32_t count) {
  numbering lines = {.limit = UINT32_MAX - 1};
  uint32_t joined = 0;
  for (uint32_t i = 0; i < count; i++) {
    answer_failure failure = list[i];
    int is_new;
    uint32_t number;
    failure.file = place_of(state, groups, failure.file);
    number = numbering_of(&lines, (uint64_t)failure.name << 32 | failure.file, failure.error, &is_new);
    if (!number || is_new) list[joined++] = failure; /* without memory, it stays by itself */
    else list[number - 1].count += failure.count;
  }
  numbering_free(&lines);
  qsort(list, joined, sizeof *list, by_count);
  return joined;
}

static void print_failures(FILE *out, const summary_answer *answer, const file_groups *groups, uint32_t top) {
  static const table_column columns[] = {{"call", 'l'}, {"calls", 'r'}, {"error", 'l'}, {"file", 'p'}};
  table lines = {.columns = columns, .column_count = 4};
  const summary_state *state = answer->state;
  char note[SHOWN_BYTES], title[96], failed[FORMAT_BYTES], calls[FORMAT_BYTES];
  uint64_t all = 0;
  uint32_t count;
  answer_failure *list = answer_failures(state, &count);
  for (uint32_t i = 0; i < count; i++) all += list[i].count;
  if (count) count = join_failures(state, groups, list, count);
  snprintf(title, sizeof title, "Failed calls, %s of %s", format_count(failed, all),
           format_count(calls, answer->calls));
  if (count) table_heading(out, title, shown(note, top, count));
  for (uint32_t i = 0; i < count && i < top; i++) {
    const uint32_t place = list[i].file;
    dft_text name = state_text_of(state, list[i].name);
    dft_text file = place_label(state, groups, place);
    table_add(&lines, name.text, name.len);
    add_count(&lines, list[i].count);
    table_format(&lines, "%s", list[i].error ? strerror((int)list[i].error) : "unknown");
    table_add(&lines, file.text, file.len);
  }
  if (count) table_print(&lines, out, 2);
  free(list);
}

/* ---- All ------------------------------------------------------------------------------------------------------------- */

/* The rate of a job is its bytes divided by the time in which any process transferred. */
static void print_job_io(FILE *out, const summary_answer *answer) {
  static const table_column columns[] = {
    {"", 'l'}, {"bytes", 'r'}, {"rate of a call", 'r'}, {"rate of the job", 'r'}, {"time", 'r'}};
  table lines = {.columns = columns, .column_count = 5};
  const io_stats *io = &answer->io;
  char busy[FORMAT_BYTES];
  if (!io->read.bytes && !io->write.bytes) return;
  table_heading(out, "I/O of the job", "time: any process read or wrote");
  for (int is_write = 0; is_write < 2; is_write++) {
    uint64_t bytes = is_write ? io->write.bytes : io->read.bytes;
    uint64_t unknown = is_write ? io->write.unknown : io->read.unknown;
    uint64_t busy_ns = is_write ? answer->writing_ns : answer->reading_ns;
    table_format(&lines, "%s", is_write ? "written" : "read");
    add_moved(&lines, bytes, unknown);
    add_rate(&lines, bytes, unknown, is_write ? io->write.ns : io->read.ns);
    add_rate(&lines, bytes, 0, busy_ns); /* of what is known */
    if (unknown && busy_ns) table_format(&lines, "%s%s", at_least(), format_duration(busy, (double)busy_ns / 1e9));
    else if (unknown) table_format(&lines, "unknown");
    else add_time(&lines, busy_ns);
  }
  table_print(&lines, out, 2);
}

void io_tables(FILE *out, const summary_answer *answer, uint32_t top, int is_single) {
  file_groups groups;
  uint32_t count;
  answer_io *list;
  if (file_groups_make(&groups, answer->state, is_single ? FILES_SINGLE : FILES_OF_PROGRAM) &&
      groups.count + groups.left_out)
    print_files(out, answer, &groups, top);
  list = answer_processes(answer->state, &count);
  if (list && count) {
    print_processes(out, answer, list, count, top);
    print_job_io(out, answer);
  }
  print_failures(out, answer, &groups, top);
  free(list);
  file_groups_free(&groups);
}
