/* cursor.c - takes units and gives rows.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <unistd.h>

#include "codec/inflate.h"
#include "cursorstate.h"
#include "ends.h"
#include "fill.h"
#include "lines.h"
#include "walk.h"

static void free_cursor(dft_cursor *cursor) {
  if (cursor->zlib_state) dft__inflater_zlib.end(cursor->zlib_state);
  if (cursor->fast_state) dft__inflater_fast.end(cursor->fast_state);
  free(cursor->zlib_state);
  free(cursor->fast_state);
  free(cursor->input);
  free(cursor->text.bytes);
  free(cursor->front.bytes);
  free(cursor->joint.bytes);
  free(cursor->plain.bytes);
  dft__columns_free(&cursor->columns);
  dft__walk_free(&cursor->own_walk);
  free(cursor);
}

dft_status dft_cursor_open(dft_reader *reader, uint32_t source, dft_cursor **result) {
  dft_cursor *cursor;
  *result = NULL;
  if (source != DFT_ALL && source >= reader->source_count) return DFT_EINVAL;
  cursor = calloc(1, sizeof *cursor);
  if (!cursor) return DFT_ENOMEM;
  cursor->reader = reader;
  cursor->own_source = source;
  if (source != DFT_ALL) {
    pthread_mutex_lock(&reader->lock);
    cursor->is_again = reader->sources[source].is_done != 0;
    pthread_mutex_unlock(&reader->lock);
  }
  cursor->input = malloc(DFT__INPUT_BYTES);
  cursor->fast_state = calloc(1, dft__inflater_fast.state_bytes);
  cursor->zlib_state = calloc(1, dft__inflater_zlib.state_bytes);
  cursor->parser.columns = &cursor->columns;
  cursor->parser.dictionaries = reader->dictionaries;
  cursor->parser.want = reader->options.want;
  cursor->parser.nesting = reader->options.nesting;
  for (uint32_t i = 0; i < DFT_DICTIONARIES; i++) cursor->parser.cache[i].dictionary = &reader->dictionaries[i];
  if (!dft__columns_init(&cursor->columns) || !cursor->input || !cursor->fast_state || !cursor->zlib_state ||
      !dft__buffer_reserve(&cursor->text, DFT__TEXT_BYTES) || !dft__buffer_reserve(&cursor->joint, DFT__PADDING)) {
    free_cursor(cursor);
    return DFT_ENOMEM;
  }
  *result = cursor;
  return DFT_OK;
}

static void close_unit(dft_cursor *cursor) {
  if (cursor->unit.fd >= 0) close(cursor->unit.fd);
  dft_snapshot_close(cursor->unit.snapshot);
  cursor->unit.snapshot = NULL;
  cursor->has_unit = 0;
}

void dft_cursor_close(dft_cursor *cursor) {
  if (!cursor) return;
  if (cursor->has_unit) { /* the caller stops in the middle of a unit */
    pthread_mutex_lock(&cursor->reader->lock);
    cursor->walk->units_open--;
    pthread_mutex_unlock(&cursor->reader->lock);
    close_unit(cursor);
  }
  free_cursor(cursor);
}

/* The next unit of all sources, or of the cursor's own. */
static int take_unit(dft_cursor *cursor) {
  dft_reader *reader = cursor->reader;
  int is_found = 0;
  pthread_mutex_lock(&reader->lock);
  if (cursor->own_source != DFT_ALL) {
    cursor->walk = &cursor->own_walk;
    is_found = dft__walk_take(reader, cursor->walk, cursor->own_source, &cursor->unit);
  }
  while (cursor->own_source == DFT_ALL && !is_found && reader->next_source < reader->source_count) {
    cursor->walk = &reader->sources[reader->next_source].walk;
    is_found = dft__walk_take(reader, cursor->walk, reader->next_source, &cursor->unit);
    if (!is_found) reader->next_source++;
  }
  if (is_found) cursor->parser.unit_ns = reader->sources[cursor->unit.source].unit_ns;
  pthread_mutex_unlock(&reader->lock);
  if (!is_found) return 0;
  cursor->has_unit = 1;
  cursor->input_at = cursor->input_len = 0;
  cursor->input_offset = cursor->unit.start;
  cursor->is_in_member = cursor->is_input_over = cursor->is_broken = cursor->is_finished = 0;
  cursor->is_head_open = cursor->unit.start != 0;
  cursor->members_known = 0;
  cursor->damaged_from = UINT64_MAX;
  cursor->text.len = cursor->text_at = 0;
  cursor->stream = cursor->skipped = 0;
  cursor->joint.len = cursor->joint_at = 0;
  cursor->lines = cursor->unit_rows = cursor->unit_members = cursor->unit_text = 0;
  return 1;
}

static dft_status show(dft_cursor *cursor, const dft_rows **rows, int is_unit_end) {
  cursor->rows.struct_size = sizeof cursor->rows;
  cursor->rows.source = cursor->unit.source;
  cursor->rows.unit = cursor->unit.number;
  cursor->rows.is_unit_end = (uint32_t)is_unit_end;
  cursor->rows.is_source_end = 0;
  if (is_unit_end) {
    dft__ends_close(cursor);
    close_unit(cursor);
  }
  dft__columns_show(&cursor->columns, &cursor->rows);
  *rows = &cursor->rows;
  return DFT_OK;
}

dft_status dft_cursor_next(dft_cursor *cursor, const dft_rows **rows) {
  dft__columns *columns = &cursor->columns;
  *rows = NULL;
  columns->count = columns->cell_count = 0;
  if (!cursor->has_unit && !take_unit(cursor)) return DFT_OK;
  for (;;) {
    if (!dft__lines_parse(cursor)) return DFT_ENOMEM;
    if (dft__columns_are_full(columns)) return show(cursor, rows, 0);
    if (!cursor->is_input_over) {
      if (columns->count) return show(cursor, rows, 0);
      if (!dft__fill(cursor)) return DFT_ENOMEM;
      continue;
    }
    if (!cursor->is_finished) {
      if (!dft__ends_finish(cursor)) return DFT_ENOMEM;
      cursor->is_finished = 1;
    }
    if (columns->count && cursor->joint.len - cursor->joint_at > cursor->plain.capacity - cursor->text.len) {
      return show(cursor, rows, 0); /* `plain` has no room for the unescaped texts of both */
    }
    if (!dft__lines_parse_joint(cursor)) return DFT_ENOMEM;
    return show(cursor, rows, cursor->joint_at == cursor->joint.len);
  }
}
