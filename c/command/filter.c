/* filter.c - which rows are meant.
 * SPDX-License-Identifier: MIT */
#include "filter.h"

#include <fnmatch.h>

static int add(arguments *given, const char **list, int *count) {
  if (*count == FILTER_PATTERNS) {
    given->status = arguments_refuse(given, "more than %d patterns", FILTER_PATTERNS);
    return -1;
  }
  list[(*count)++] = given->value;
  return 1;
}

static int set_time(arguments *given, int *has, int64_t *ns) {
  double seconds;
  if (!arguments_seconds(given, &seconds)) return -1;
  *has = 1;
  *ns = (int64_t)(seconds * 1e9);
  return 1;
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

int64_t filter_origin(dft_reader *reader) {
  int64_t origin = INT64_MAX;
  for (uint32_t i = 0; i < dft_reader_source_count(reader); i++) {
    dft_cursor *cursor;
    const dft_rows *rows = NULL;
    if (dft_cursor_open(reader, i, &cursor) != DFT_OK) return INT64_MIN;
    if (dft_cursor_next(cursor, &rows) != DFT_OK) rows = NULL;
    for (uint32_t row = 0; rows && row < rows->count; row++) {
      if (rows->phase[row] == DFT_COMPLETE && rows->start_ns[row] < origin) origin = rows->start_ns[row];
    }
    dft_cursor_close(cursor);
  }
  return origin == INT64_MAX ? 0 : origin;
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
