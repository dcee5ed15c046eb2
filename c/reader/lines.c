/* lines.c - from text to rows.
 * SPDX-License-Identifier: MIT */
#include "cursor.h"
#include "scan.h"

uint64_t dft__cursor_place(const dft_cursor *cursor, uint64_t stream) {
  uint64_t member = cursor->unit.start;
  uint32_t known = cursor->members_known < DFT__MEMBERS_KNOWN ? cursor->members_known : DFT__MEMBERS_KNOWN;
  if (cursor->reader->sources[cursor->unit.source].kind == DFT_SOURCE_PLAIN) return cursor->unit.start + stream;
  for (uint32_t i = 0; i < known; i++) {
    if (cursor->members[i].stream <= stream && cursor->members[i].member > member) member = cursor->members[i].member;
  }
  return member;
}

void dft__cursor_complain(dft_cursor *cursor, uint32_t kind, uint64_t byte, uint64_t line_in_unit, const char *detail,
                          size_t len) {
  dft_reader *reader = cursor->reader;
  dft__problem_entry problem = {.kind = kind, .byte = byte, .unit = cursor->unit.number, .line_in_unit = line_in_unit};
  pthread_mutex_lock(&reader->lock);
  for (uint32_t i = 0; i < cursor->walk->verified_count; i++) {
    if (byte > cursor->walk->verified[i][0] && byte < cursor->walk->verified[i][1] && line_in_unit == UINT64_MAX) {
      pthread_mutex_unlock(&reader->lock);
      return;
    }
  }
  dft__problem_add(reader, cursor->unit.source, &problem, detail, len);
  pthread_mutex_unlock(&reader->lock);
}

int dft__lines_parse_one(dft_cursor *cursor, const char *at, const char *end, uint64_t byte, uint32_t bad_kind) {
  dft__columns *columns = &cursor->columns;
  int result = (uint64_t)(end - at) > cursor->reader->options.line_bytes ? DFT_PROBLEM_LINE_BYTES
                                                                         : dft__parse_line(&cursor->parser, at, end);
  if (result == DFT__LINE_NO_MEMORY) return 0;
  if (result == DFT__LINE_ROW) {
    columns->line_in_unit[columns->count - 1] = (uint32_t)cursor->lines;
    cursor->unit_rows++;
  } else if (result > 0 && bad_kind) {
    dft__cursor_complain(cursor, result == DFT_PROBLEM_LINE ? bad_kind : (uint32_t)result, byte, cursor->lines, at,
                         (size_t)(end - at));
  }
  if (cursor->parser.is_time_cut) {
    dft__cursor_complain(cursor, DFT_PROBLEM_TIME, byte, cursor->lines, at, (size_t)(end - at));
    cursor->parser.is_time_cut = 0;
  }
  return 1;
}

/* Behind damage a line is there or not; the damage itself was reported. */
static uint32_t kind_at(const dft_cursor *cursor, uint64_t stream) {
  return stream >= cursor->damaged_from ? 0 : DFT_PROBLEM_LINE;
}

/* The text ends in damage. Its last line may be whole all the same, only without a line end. */
static int parse_broken_end(dft_cursor *cursor) {
  dft__buffer *text = &cursor->text;
  int is_good = 1;
  if (cursor->text_at < text->len && !cursor->is_head_open) {
    is_good = dft__lines_parse_one(cursor, text->bytes + cursor->text_at, text->bytes + text->len, 0, 0);
  }
  cursor->text_at = text->len;
  cursor->is_broken = 0;
  cursor->is_head_open = 0;
  cursor->stream += cursor->skipped;
  cursor->skipped = 0;
  cursor->damaged_from = UINT64_MAX;
  return is_good;
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
    if (!stop) return cursor->is_broken ? parse_broken_end(cursor) : 1;
    cursor->text_at = (size_t)(stop - text->bytes) + 1;
    if (cursor->is_head_open) {
      cursor->is_head_open = 0;
      cursor->text_at -= (size_t)(stop - at) + 1;
      if (!dft__ends_head(cursor, stop)) return 0;
    } else if (!dft__lines_parse_one(cursor, at, stop, dft__cursor_place(cursor, stream), kind_at(cursor, stream))) {
      return 0;
    }
    if (text->bytes + cursor->text_at > at) { /* it was no line to be parsed where it stands */
      cursor->stream += cursor->skipped;
      cursor->skipped = 0;
    }
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
    if (!dft__lines_parse_one(cursor, at, stop, cursor->joint_byte, is_torn ? DFT_PROBLEM_TORN : DFT_PROBLEM_LINE)) {
      return 0;
    }
    cursor->lines += is_torn;
  }
  return 1;
}
