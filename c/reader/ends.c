/* ends.c - the two ends of a unit: lines that begin in one unit and end in another.
 * SPDX-License-Identifier: MIT */
#include "ends.h"

#include <stdlib.h>

#include "location.h"
#include "problem.h"
#include "walk.h"

/* Of a line that exceeds the limit, keeps one byte more than the limit. */
static int append(dft_cursor *cursor, dft__buffer *buffer, size_t line, const char *bytes, size_t len) {
  uint64_t room = cursor->reader->options.line_bytes + 1 - (buffer->len - line);
  if (len > room) len = (size_t)room;
  if (!dft__buffer_reserve(buffer, buffer->len + len + 1)) return 0;
  if (len) memcpy(buffer->bytes + buffer->len, bytes, len);
  buffer->len += len;
  return 1;
}

static int end_line(dft__buffer *joint) {
  if (!dft__buffer_reserve(joint, joint->len + 1)) return 0;
  joint->bytes[joint->len++] = '\n';
  memset(joint->bytes + joint->len, 0, DFT__PADDING);
  return 1;
}

enum dft__head dft__ends_head(dft_cursor *cursor, const char *end, uint64_t *byte) {
  const char *at = cursor->text.bytes + cursor->text_at;
  size_t len = (size_t)(end - at);
  enum dft__head result = DFT__HEAD_NO_MEMORY;
  dft__seam *seam;
  pthread_mutex_lock(&cursor->reader->lock);
  seam = dft__walk_take_seam(cursor->walk, cursor->unit.start);
  if (!seam && dft__walk_add_seam(cursor->walk, DFT__SEAM_HEAD, cursor->unit.start, 0, at, len))
    result = DFT__HEAD_LEFT;
  pthread_mutex_unlock(&cursor->reader->lock);
  if (!seam) return result;
  *byte = seam->to;
  cursor->front.len = 0;
  if (!seam->len) {
    result = DFT__HEAD_COMPLETE;
  } else if (append(cursor, &cursor->front, 0, seam->bytes, seam->len) && append(cursor, &cursor->front, 0, at, len) &&
             end_line(&cursor->front)) {
    result = DFT__HEAD_JOINED;
  }
  free(seam);
  return result;
}

/* Completes or passes on the unit's last line, which has no end here: `joint` from `from` on. The caller holds the lock. */
static int pass_on(dft_cursor *cursor, size_t from) {
  dft__buffer *joint = &cursor->joint;
  uint64_t place = cursor->unit.limit;
  dft__seam *seam;
  while ((seam = dft__walk_take_seam(cursor->walk, place)) != NULL) {
    int is_good = append(cursor, joint, from, seam->bytes, seam->len);
    int is_whole = seam->kind == DFT__SEAM_HEAD;
    place = seam->to;
    free(seam);
    if (!is_good) return 0;
    if (is_whole) return end_line(joint);
  }
  if (place >= cursor->reader->sources[cursor->unit.source].size || cursor->unit.snapshot) {
    cursor->torn_from = from;
    return joint->len == from ? 1 : end_line(joint);
  }
  if (!dft__walk_add_seam(cursor->walk, DFT__SEAM_TAIL, place, cursor->joint_byte, joint->bytes + from,
                          joint->len - from))
    return 0;
  joint->len = from;
  return 1;
}

/* The last open unit takes the seams whose other half never came, because that unit was damaged. The caller holds the
 * lock. */
static int take_leftovers(dft_cursor *cursor) {
  if (cursor->torn_from > cursor->joint.len) cursor->torn_from = cursor->joint.len;
  for (dft__seam *seam = cursor->walk->seams; seam; seam = seam->next) {
    if (!seam->len) continue;
    if (!append(cursor, &cursor->joint, cursor->joint.len, seam->bytes, seam->len) || !end_line(&cursor->joint))
      return 0;
  }
  return 1;
}

int dft__ends_finish(dft_cursor *cursor) {
  dft_reader *reader = cursor->reader;
  dft__buffer *joint = &cursor->joint;
  const char *at = cursor->text.bytes + cursor->text_at;
  size_t len = cursor->text.len - cursor->text_at;
  int is_good = 1;
  cursor->joint.len = cursor->joint_at = 0;
  cursor->joint_byte = dft__location_in_file(cursor, cursor->stream + cursor->text_at);
  cursor->torn_from = SIZE_MAX;
  pthread_mutex_lock(&reader->lock);
  if (cursor->is_head_open) { /* no line end in the whole unit */
    dft__seam *seam = dft__walk_take_seam(cursor->walk, cursor->unit.start);
    if (seam) {
      cursor->joint_byte = seam->to;
      is_good = append(cursor, joint, 0, seam->bytes, seam->len) && append(cursor, joint, 0, at, len) &&
                pass_on(cursor, 0);
      free(seam);
    } else {
      is_good = dft__walk_add_seam(cursor->walk, DFT__SEAM_THROUGH, cursor->unit.start, cursor->unit.limit, at, len);
    }
  } else {
    is_good = append(cursor, joint, 0, at, len) && pass_on(cursor, 0);
  }
  cursor->text_at = cursor->text.len;
  cursor->walk->units_open--;
  if (is_good && !cursor->walk->units_open && cursor->walk->next_start >= reader->sources[cursor->unit.source].size) {
    is_good = take_leftovers(cursor);
  }
  pthread_mutex_unlock(&reader->lock);
  return is_good;
}

void dft__ends_close(dft_cursor *cursor) {
  dft_reader *reader = cursor->reader;
  dft__source_state *source = &reader->sources[cursor->unit.source];
  pthread_mutex_lock(&reader->lock);
  if (!cursor->is_again) {
    source->lines += cursor->lines;
    source->rows += cursor->unit_rows;
    source->members += cursor->unit_members;
    source->text_bytes += cursor->unit_text;
    source->units++;
    source->done_bytes += source->kind == DFT_SOURCE_SPOOL ? source->size : cursor->unit.limit - cursor->unit.start;
    dft__problem_note_lines(source, cursor->unit.number, cursor->lines);
  }
  if (!cursor->walk->units_open && cursor->walk->next_start >= source->size) source->is_done = 1;
  cursor->rows.is_source_end = cursor->walk->next_start >= source->size &&
                               cursor->unit.number + 1 == cursor->walk->unit_count;
  pthread_mutex_unlock(&reader->lock);
}
