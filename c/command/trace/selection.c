/* selection.c - selects rows by name, category, process, thread and time.
 * SPDX-License-Identifier: MIT */
#include "selection.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static int add(arguments *given, const char **list, int *count) {
  if (*count == SELECTION_PATTERNS) {
    given->status = arguments_refuse(given, "more than %d patterns given", SELECTION_PATTERNS);
    return -1;
  }
  list[(*count)++] = given->value;
  return 1;
}

static int set_time(arguments *given, int *has, int64_t *ns) {
  *has = 1;
  return arguments_time(given, ns) ? 1 : -1;
}

int selection_option(selection *wanted, arguments *given, int key) {
  switch (key) {
    case SELECTION_NAME: return add(given, wanted->names, &wanted->name_count);
    case SELECTION_CAT: return add(given, wanted->cats, &wanted->cat_count);
    case SELECTION_PID: wanted->has_pid = 1; return arguments_number(given, 0, UINT64_MAX, &wanted->pid) ? 1 : -1;
    case SELECTION_TID: wanted->has_tid = 1; return arguments_number(given, 0, UINT64_MAX, &wanted->tid) ? 1 : -1;
    case SELECTION_FROM: return set_time(given, &wanted->has_from, &wanted->from_ns);
    case SELECTION_TO: return set_time(given, &wanted->has_to, &wanted->to_ns);
    default: return 0;
  }
}

static int is_start(dft_reader *reader, const dft_rows *rows, uint32_t row) {
  return strcmp(dft_reader_text(reader, DFT_CATS, rows->cat[row]).text, "dftracer") == 0 &&
         strcmp(dft_reader_text(reader, DFT_NAMES, rows->name[row]).text, "start") == 0;
}

/* The event `start` is among the first lines of a file; a file without it is read to its end. 0: no memory. */
static int look_for_first(dft_reader *reader, uint32_t source, int64_t *first) {
  dft_cursor *cursor;
  const dft_rows *rows;
  int64_t least = INT64_MAX;
  int is_found = 0;
  if (dft_cursor_open(reader, source, &cursor) != DFT_OK) return 0;
  while (!is_found && dft_cursor_next(cursor, &rows) == DFT_OK && rows) {
    for (uint32_t row = 0; row < rows->count && !is_found; row++) {
      if (rows->phase[row] != DFT_COMPLETE) continue;
      is_found = is_start(reader, rows, row);
      if (is_found || rows->start_ns[row] < least) least = rows->start_ns[row];
    }
  }
  dft_cursor_close(cursor);
  if (least < *first) *first = least;
  return 1;
}

/* The time of the earliest event `start` of all sources; a source without one counts with its earliest event. 0: there are no
 * events; INT64_MIN: no memory. */
static int64_t find_origin(dft_reader *reader) {
  uint32_t count = dft_reader_source_count(reader);
  const char **paths = calloc(count + 1, sizeof *paths);
  dft_reader *own = NULL; /* another reader, so that problems are not counted twice */
  int64_t first = INT64_MAX;
  int is_good = paths != NULL;
  for (uint32_t i = 0; is_good && i < count; i++) {
    dft_source source = {.struct_size = sizeof source};
    dft_reader_source(reader, i, &source);
    paths[i] = source.path;
  }
  is_good = is_good && dft_reader_open(NULL, paths, count, &own) != DFT_ENOMEM;
  for (uint32_t i = 0; is_good && i < dft_reader_source_count(own); i++) is_good = look_for_first(own, i, &first);
  dft_reader_close(own);
  free(paths);
  return !is_good ? INT64_MIN : first == INT64_MAX ? 0 : first;
}

int selection_prepare(selection *wanted, dft_reader *reader) {
  if (wanted->has_from || wanted->has_to) wanted->origin = find_origin(reader);
  return wanted->origin != INT64_MIN;
}

static int matches(const char *const *patterns, int count, dft_text text) {
  for (int i = 0; i < count; i++) {
    if (fnmatch(patterns[i], text.text, 0) == 0) return 1;
  }
  return count == 0;
}

int selection_takes(const selection *wanted, dft_reader *reader, const dft_rows *rows, uint32_t row) {
  if (wanted->has_pid && rows->pid[row] != wanted->pid) return 0;
  if (wanted->has_tid && rows->tid[row] != wanted->tid) return 0;
  if ((wanted->has_from || wanted->has_to) && rows->phase[row] == DFT_METADATA) return 0;
  if (wanted->has_from && rows->start_ns[row] - wanted->origin < wanted->from_ns) return 0;
  if (wanted->has_to && rows->start_ns[row] - wanted->origin >= wanted->to_ns) return 0;
  if (wanted->name_count &&
      !matches(wanted->names, wanted->name_count, dft_reader_text(reader, DFT_NAMES, rows->name[row])))
    return 0;
  return !wanted->cat_count ||
         matches(wanted->cats, wanted->cat_count, dft_reader_text(reader, DFT_CATS, rows->cat[row]));
}
