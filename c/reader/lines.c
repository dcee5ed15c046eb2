/* lines.c - from text to rows.
 * SPDX-License-Identifier: MIT */
#include "lines.h"

#include "ends.h"
#include "location.h"
#include "parse.h"

/* Parses one line that begins at this byte of the file. A bad line is reported as bad_kind, or not at all when that is 0.
 * 0: no memory. */
static int parse_one(dft_cursor *cursor, const char *at, const char *end, uint64_t byte, uint32_t bad_kind) {
  dft__columns *columns = &cursor->columns;
  int result = (uint64_t)(end - at) > cursor->reader->options.line_bytes ? DFT_PROBLEM_LINE_BYTES
                                                                         : dft__parse_line(&cursor->parser, at, end);
  if (result == DFT__LINE_NO_MEMORY) return 0;
  if (result == DFT__LINE_ROW) {
    columns->line_in_unit[columns->count - 1] = (uint32_t)cursor->lines;
    cursor->unit_rows++;
  } else if (result > 0 && bad_kind) {
    dft__location_complain(cursor, result == DFT_PROBLEM_LINE ? bad_kind : (uint32_t)result, byte, cursor->lines, at,
                           (size_t)(end - at));
  }
  if (cursor->parser.is_time_cut) {
    dft__location_complain(cursor, DFT_PROBLEM_TIME, byte, cursor->lines, at, (size_t)(end - at));
    cursor->parser.is_time_cut = 0;
  }
  return 1;
}

/* Bad lines after damage are not reported: the damage itself was. */
static uint32_t kind_at(const dft_cursor *cursor, uint64_t stream) {
  return stream >= cursor->damaged_from ? 0 : DFT_PROBLEM_LINE;
}

/* The text ends in damage. Its last line may still be complete, only without a line end. */
static int parse_broken_end(dft_cursor *cursor) {
  dft__buffer *text = &cursor->text;
  int is_good = 1;
  if (cursor->text_at < text->len && !cursor->is_head_open) {
    is_good = parse_one(cursor, text->bytes + cursor->text_at, text->bytes + text->len, 0, 0);
  }
  cursor->text_at = text->len;
  cursor->is_broken = 0;
  cursor->is_head_open = 0;
  cursor->stream += cursor->skipped;
  cursor->skipped = 0;
  cursor->damaged_from = UINT64_MAX;
  return is_good;
}

/* The unit's first line, which ends at `stop`. *is_passed: it is done with; otherwise it is parsed in place, as any line. */
static int parse_head(dft_cursor *cursor, const char *stop, int *is_passed) {
  dft__buffer *front = &cursor->front;
  uint64_t byte;
  enum dft__head head = dft__ends_head(cursor, stop, &byte);
  cursor->is_head_open = 0;
  *is_passed = head != DFT__HEAD_COMPLETE;
  if (head == DFT__HEAD_NO_MEMORY) return 0;
  if (head != DFT__HEAD_JOINED) return 1;
  /* It is the first line of its batch: no row points into `plain` yet, so that may move. */
  if (!dft__buffer_reserve(&cursor->plain, cursor->text.len + front->len + DFT__PADDING)) return 0;
  cursor->parser.plain = cursor->plain.bytes;
  return parse_one(cursor, front->bytes, front->bytes + front->len - 1, byte, DFT_PROBLEM_LINE);
}

int dft__lines_parse(dft_cursor *cursor) {
  dft__buffer *text = &cursor->text;
  const char *end = text->bytes + text->len;
  if (!cursor->columns.count) {
    if (!dft__buffer_reserve(&cursor->plain, text->len + cursor->joint.len + DFT__PADDING)) return 0;
    cursor->parser.plain = cursor->plain.bytes;
  }
  while (!dft__columns_are_full(&cursor->columns)) {
    const char *at = text->bytes + cursor->text_at;
    const char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    uint64_t stream = cursor->stream + cursor->text_at;
    int is_passed = 0;
    if (!stop) return cursor->is_broken ? parse_broken_end(cursor) : 1;
    if (cursor->is_head_open && !parse_head(cursor, stop, &is_passed)) return 0;
    if (!is_passed && !parse_one(cursor, at, stop, dft__location_in_file(cursor, stream), kind_at(cursor, stream)))
      return 0;
    cursor->text_at = (size_t)(stop - text->bytes) + 1;
    cursor->stream += cursor->skipped;
    cursor->skipped = 0;
    cursor->lines++;
  }
  return 1;
}

int dft__lines_parse_joint(dft_cursor *cursor) {
  dft__buffer *joint = &cursor->joint;
  while (cursor->joint_at < joint->len && !dft__columns_are_full(&cursor->columns)) {
    const char *at = joint->bytes + cursor->joint_at;
    const char *stop = memchr(at, '\n', joint->len - cursor->joint_at);
    int is_torn = cursor->joint_at >= cursor->torn_from;
    cursor->joint_at = (size_t)(stop - joint->bytes) + 1;
    if (!parse_one(cursor, at, stop, cursor->joint_byte, is_torn ? DFT_PROBLEM_TORN : DFT_PROBLEM_LINE)) {
      return 0;
    }
    cursor->lines += is_torn;
  }
  return 1;
}
