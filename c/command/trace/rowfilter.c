/* rowfilter.c - which rows are meant.
 * SPDX-License-Identifier: MIT */
#include "rowfilter.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static int add(arguments *given, const char **list, int *count) {
  if (*count == FILTER_PATTERNS) {
    given->status = arguments_refuse(given, "more than %d patterns", FILTER_PATTERNS);
    return -1;
  }
  list[(*count)++] = given->value;
  return 1;
}

static int set_time(arguments *given, int *has, int64_t *ns) {
  *has = 1;
  return arguments_time(given, ns) ? 1 : -1;
}

int filter_option(filter *of, arguments *given, int key) {
  switch (key) {
    case FILTER_NAME: return add(given, of->names, &of->name_count);
    case FILTER_CAT: return add(given, of->cats, &of->cat_count);
    case FILTER_PID: of->has_pid = 1; return arguments_number(given, 0, UINT64_MAX, &of->pid) ? 1 : -1;
    case FILTER_TID: of->has_tid = 1; return arguments_number(given, 0, UINT64_MAX, &of->tid) ? 1 : -1;
    case FILTER_FROM: return set_time(given, &of->has_from, &of->from_ns);
    case FILTER_TO: return set_time(given, &of->has_to, &of->to_ns);
    default: return 0;
  }
}

static int is_start(dft_reader *reader, const dft_rows *rows, uint32_t row) {
  return strcmp(dft_reader_text(reader, DFT_CATS, rows->cat[row]).text, "dftracer") == 0 &&
         strcmp(dft_reader_text(reader, DFT_NAMES, rows->name[row]).text, "start") == 0;
}

/* The event start stands at the head of a file; one without it is read to its end. 0: no memory. */
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

int64_t filter_origin(dft_reader *reader) {
  uint32_t count = dft_reader_source_count(reader);
  const char **paths = calloc(count + 1, sizeof *paths);
  dft_reader *own = NULL; /* so that nothing is counted twice */
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

int filter_prepare(filter *of, dft_reader *reader) {
  if (of->has_from || of->has_to) of->origin = filter_origin(reader);
  return of->origin != INT64_MIN;
}

static int matches(const char *const *patterns, int count, dft_text text) {
  for (int i = 0; i < count; i++) {
    if (fnmatch(patterns[i], text.text, 0) == 0) return 1;
  }
  return count == 0;
}

int filter_takes(const filter *of, dft_reader *reader, const dft_rows *rows, uint32_t row) {
  if (of->has_pid && rows->pid[row] != of->pid) return 0;
  if (of->has_tid && rows->tid[row] != of->tid) return 0;
  if ((of->has_from || of->has_to) && rows->phase[row] == DFT_METADATA) return 0;
  if (of->has_from && rows->start_ns[row] - of->origin < of->from_ns) return 0;
  if (of->has_to && rows->start_ns[row] - of->origin >= of->to_ns) return 0;
  if (of->name_count && !matches(of->names, of->name_count, dft_reader_text(reader, DFT_NAMES, rows->name[row])))
    return 0;
  return !of->cat_count || matches(of->cats, of->cat_count, dft_reader_text(reader, DFT_CATS, rows->cat[row]));
}
