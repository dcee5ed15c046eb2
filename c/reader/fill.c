/* fill.c - the text of a unit: plain, or inflated member by member.
 *
 * A damaged member yields its text up to the damage. Reading continues where the next member seems to begin.
 * SPDX-License-Identifier: MIT */
#include "fill.h"

#include <errno.h>
#include <unistd.h>

#include "codec/inflate.h"
#include "location.h"
#include "problem.h"
#include "unpublished.h"
#include "walk.h"

#define SNAPSHOT_ROOM (8u << 20) /* for lines of a spool: several of the longest */

static size_t room_of(const dft_cursor *cursor) {
  return cursor->text.capacity - cursor->text.len;
}

/* Moves the unparsed text to the beginning of the buffer and makes room after it. */
static int make_room(dft_cursor *cursor) {
  dft__buffer *text = &cursor->text;
  size_t left = text->len - cursor->text_at;
  size_t wanted = DFT__TEXT_BYTES;
  if (cursor->text_at) memmove(text->bytes, text->bytes + cursor->text_at, left);
  cursor->stream += cursor->text_at;
  cursor->text_at = 0;
  text->len = left;
  if (left > cursor->reader->options.line_bytes + 1) { /* the line is too long: its beginning is enough to report it */
    text->len = (size_t)cursor->reader->options.line_bytes + 1;
    cursor->skipped += left - text->len;
  }
  while (wanted < text->len * 2) wanted *= 2;
  return dft__buffer_reserve(text, wanted);
}

/* Reads more input. 0: the file ended or cannot be read. */
static int read_input(dft_cursor *cursor) {
  ssize_t len;
  if (cursor->input_at < cursor->input_len) return 1;
  len = pread(cursor->unit.fd, cursor->input, DFT__INPUT_BYTES, (off_t)cursor->input_offset);
  if (len < 0 && !cursor->is_again) {
    dft__problem_entry problem = {
      .kind = DFT_PROBLEM_FILE, .error = errno, .byte = cursor->input_offset, .line_in_unit = UINT64_MAX};
    pthread_mutex_lock(&cursor->reader->lock);
    dft__problem_add(cursor->reader, cursor->unit.source, &problem, NULL, 0);
    pthread_mutex_unlock(&cursor->reader->lock);
  }
  cursor->input_at = 0;
  cursor->input_len = len > 0 ? (size_t)len : 0;
  return len > 0;
}

static void go_to(dft_cursor *cursor, uint64_t offset) {
  cursor->input_at = cursor->input_len = 0;
  cursor->input_offset = offset;
}

/* ---- Plain ---------------------------------------------------------------------------------------------------------- */

static void fill_plain(dft_cursor *cursor) {
  dft__buffer *text = &cursor->text;
  uint64_t left = cursor->unit.limit - cursor->input_offset;
  size_t wanted = room_of(cursor) < left ? room_of(cursor) : (size_t)left;
  ssize_t len = wanted ? pread(cursor->unit.fd, text->bytes + text->len, wanted, (off_t)cursor->input_offset) : 0;
  if (len > 0) {
    text->len += (size_t)len;
    cursor->input_offset += (uint64_t)len;
  } else if (len < 0) {
    dft__location_complain(cursor, DFT_PROBLEM_FILE, cursor->input_offset, UINT64_MAX, NULL, 0);
  }
  cursor->is_input_over = len <= 0 || cursor->input_offset >= cursor->unit.limit;
}

/* ---- Members -------------------------------------------------------------------------------------------------------- */

static void note_member(dft_cursor *cursor) {
  uint32_t at = cursor->members_known++ % DFT__MEMBERS_KNOWN;
  cursor->members[at].stream = cursor->stream + cursor->skipped + cursor->text.len;
  cursor->members[at].member = cursor->member;
}

/* The unit ends here; or it has to continue, because its limit was not the beginning of a member after all. */
static int is_unit_over(dft_cursor *cursor) {
  dft_reader *reader = cursor->reader;
  if (cursor->input_offset < cursor->unit.limit) return 0;
  if (cursor->input_offset == cursor->unit.limit || cursor->unit.limit >= reader->sources[cursor->unit.source].size) {
    return 1;
  }
  pthread_mutex_lock(&reader->lock);
  cursor->unit.limit = dft__walk_end_of(reader, cursor->walk, &cursor->unit, cursor->member, cursor->input_offset);
  pthread_mutex_unlock(&reader->lock);
  return cursor->input_offset >= cursor->unit.limit;
}

/* Moves to the next place that looks like a member, or to the end of the unit. */
static void find_next(dft_cursor *cursor, uint64_t from) {
  go_to(cursor, dft__walk_find_member(cursor->unit.fd, from, cursor->unit.limit));
}

static void begin_member(dft_cursor *cursor) {
  uint8_t head[10];
  ssize_t len = pread(cursor->unit.fd, head, sizeof head, (off_t)cursor->input_offset);
  if (len < 3 || head[0] != 0x1f || head[1] != 0x8b || head[2] != 8) {
    dft__location_complain(cursor, DFT_PROBLEM_BYTES, cursor->input_offset, UINT64_MAX, NULL, 0);
    find_next(cursor, cursor->input_offset + 1);
    cursor->is_broken = 1;
    return;
  }
  cursor->member = cursor->input_offset;
  cursor->member_bytes = 0;
  cursor->is_in_member = 1;
  dft__inflater_fast.begin(cursor->fast_state);
  note_member(cursor);
}

static enum dft__inflated run(dft_cursor *cursor, const dft__inflater *inflater, void *state) {
  dft__buffer *text = &cursor->text;
  size_t before = text->len;
  enum dft__inflated result;
  dft__flow flow = {cursor->input + cursor->input_at, cursor->input_len - cursor->input_at,
                    (uint8_t *)text->bytes + text->len, room_of(cursor)};
  result = inflater->run(state, &flow);
  cursor->input_offset += (size_t)(flow.in - (cursor->input + cursor->input_at));
  cursor->input_at = (size_t)(flow.in - cursor->input);
  text->len = text->capacity - flow.room;
  cursor->member_bytes += text->len - before;
  return result;
}

/* The member cannot be inflated any further. Inflates it again with zlib, which yields every byte up to the damage, and
 * skips the text that is known already. 0: no memory. */
static int salvage(dft_cursor *cursor) {
  dft__buffer *text = &cursor->text;
  uint64_t have = cursor->member_bytes, seen = 0;
  enum dft__inflated result = DFT__INFLATE_GOES_ON;
  go_to(cursor, cursor->member);
  dft__inflater_zlib.begin(cursor->zlib_state);
  while (result == DFT__INFLATE_GOES_ON && read_input(cursor)) {
    size_t start = text->len, fresh;
    if (room_of(cursor) < DFT__INPUT_BYTES && !dft__buffer_reserve(text, text->capacity * 2)) return 0;
    result = run(cursor, &dft__inflater_zlib, cursor->zlib_state);
    fresh = text->len - start;
    if (seen + fresh <= have) {
      text->len = start;
    } else if (seen < have) {
      memmove(text->bytes + start, text->bytes + start + (have - seen), fresh - (size_t)(have - seen));
      text->len -= (size_t)(have - seen);
    }
    seen += fresh;
    if (text->len > 2 * cursor->reader->options.line_bytes + DFT__TEXT_BYTES) break;
  }
  return 1;
}

static void damaged(dft_cursor *cursor, uint32_t kind) {
  dft_reader *reader = cursor->reader;
  uint64_t from;
  dft__location_complain(cursor, kind, cursor->member, UINT64_MAX, NULL, 0);
  cursor->is_in_member = 0;
  cursor->is_broken = 1;
  pthread_mutex_lock(&reader->lock);
  from = dft__walk_after_damage(reader, cursor->walk, &cursor->unit, cursor->member, cursor->input_offset,
                                cursor->member_bytes);
  pthread_mutex_unlock(&reader->lock);
  find_next(cursor, from);
}

/* One step inside a member; 0: no memory. */
static int run_member(dft_cursor *cursor) {
  int is_file_over = !read_input(cursor);
  enum dft__inflated result = is_file_over ? DFT__INFLATE_BAD : run(cursor, &dft__inflater_fast, cursor->fast_state);
  if (result == DFT__INFLATE_END) {
    cursor->is_in_member = 0;
    cursor->unit_members++;
  } else if (result == DFT__INFLATE_BAD) {
    cursor->damaged_from = cursor->members[(cursor->members_known - 1) % DFT__MEMBERS_KNOWN].stream;
    if (!salvage(cursor)) return 0;
    damaged(cursor, is_file_over ? DFT_PROBLEM_CUT : DFT_PROBLEM_MEMBER);
  } else if (cursor->member_bytes > cursor->reader->options.member_bytes) {
    damaged(cursor, DFT_PROBLEM_MEMBER_BYTES);
  }
  return 1;
}

/* Stops at damage, so that the broken line is not joined with the text after it. */
static int fill_gzip(dft_cursor *cursor) {
  while (!cursor->is_broken && room_of(cursor) && !cursor->is_input_over) {
    if (cursor->is_in_member) {
      if (!run_member(cursor)) return 0;
    } else if (is_unit_over(cursor)) {
      cursor->is_input_over = 1;
    } else {
      begin_member(cursor);
    }
  }
  if (cursor->is_broken && is_unit_over(cursor)) cursor->is_input_over = 1;
  return 1;
}

/* The live file, compressed or not, followed by the snapshot. */
static int fill_spool(dft_cursor *cursor) {
  dft__buffer *text = &cursor->text;
  int is_damaged;
  if (cursor->unit.fd >= 0 && cursor->input_offset < cursor->unit.limit) {
    uint8_t first = 0;
    if (!cursor->input_offset && !cursor->is_in_member) {
      cursor->is_live_gzip = pread(cursor->unit.fd, &first, 1, 0) == 1 && first == 0x1f;
    }
    if (cursor->is_live_gzip ? !fill_gzip(cursor) : (fill_plain(cursor), 0)) return 0;
    cursor->is_input_over = 0;
    if (text->len || cursor->input_offset < cursor->unit.limit) return 1;
  }
  if (!dft__buffer_reserve(text, text->len + SNAPSHOT_ROOM)) return 0;
  text->len += dft__spool_lines(&cursor->unit, text->bytes + text->len, room_of(cursor), &cursor->is_input_over,
                                &is_damaged);
  if (is_damaged) dft__location_complain(cursor, DFT_PROBLEM_SPOOL, 0, UINT64_MAX, NULL, 0);
  return 1;
}

int dft__fill(dft_cursor *cursor) {
  size_t before;
  if (!make_room(cursor)) return 0;
  before = cursor->text.len;
  switch (cursor->reader->sources[cursor->unit.source].kind) {
    case DFT_SOURCE_GZIP:
      if (!fill_gzip(cursor)) return 0;
      break;
    case DFT_SOURCE_SPOOL:
      if (!fill_spool(cursor)) return 0;
      break;
    default: fill_plain(cursor);
  }
  cursor->unit_text += cursor->text.len - before;
  memset(cursor->text.bytes + cursor->text.len, 0, DFT__PADDING);
  return 1;
}
