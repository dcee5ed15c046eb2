/* fileposition.c - where the transfers of a thread begin in their files.
 * SPDX-License-Identifier: MIT */
#include "fileposition.h"

#include <stdio.h>
#include <stdlib.h>

#define FILES_FIRST 8u

/* ---- Files ---------------------------------------------------------------------------------------------------------- */

/* The file's slot, or the free one where it belongs. */
static uint32_t *slot_of(const file_positions *positions, uint32_t file) {
  uint32_t at = file & (positions->slot_count - 1);
  while (positions->slots[at] && positions->list[positions->slots[at] - 1].file != file)
    at = (at + 1) & (positions->slot_count - 1);
  return &positions->slots[at];
}

/* There are two to four slots for each file of the list. */
static int enlarge(file_positions *positions) {
  uint32_t capacity = positions->capacity ? positions->capacity * 2 : FILES_FIRST;
  file_position *list = realloc(positions->list, capacity * sizeof *list);
  uint32_t *slots;
  if (!list) return 0;
  positions->list = list;
  slots = calloc((size_t)capacity * 2, sizeof *slots);
  if (!slots) return 0;
  free(positions->slots);
  positions->slots = slots;
  positions->slot_count = capacity * 2;
  positions->capacity = capacity;
  for (uint32_t i = 0; i < positions->count; i++) *slot_of(positions, list[i].file) = i + 1;
  return 1;
}

static file_position *position_in(file_positions *positions, uint32_t file) {
  uint32_t *slot;
  if (positions->count && positions->list[positions->latest].file == file) return &positions->list[positions->latest];
  if (positions->count == positions->capacity && !enlarge(positions)) return NULL;
  slot = slot_of(positions, file);
  if (!*slot) {
    positions->list[positions->count] = (file_position){.file = file, .last_end = -1};
    *slot = ++positions->count;
  }
  positions->latest = *slot - 1;
  return &positions->list[positions->latest];
}

/* ---- Pieces --------------------------------------------------------------------------------------------------------- */

/* How many bytes both have. */
static int64_t overlap(const file_piece *one, const file_piece *two) {
  int64_t from = one->from > two->from ? one->from : two->from;
  int64_t to = one->to < two->to ? one->to : two->to;
  return to > from ? to - from : 0;
}

/* Adds what is transferred. Of two pieces with a gap in between, the longer one is kept. Returns how many bytes it had. */
static uint64_t piece_add(file_piece *known, const file_piece *more) {
  const int64_t common = overlap(known, more);
  if (known->from == known->to || more->from > known->to || more->to < known->from) {
    if (more->to - more->from > known->to - known->from) *known = *more;
    return 0;
  }
  if (more->from < known->from) known->from = more->from;
  if (more->to > known->to) known->to = more->to;
  return (uint64_t)common;
}

/* ---- Calls ---------------------------------------------------------------------------------------------------------- */

/* fseek returns 0, and not the new position. */
static void move(file_position *position, const moment *event) {
  int64_t from = event->whence == SEEK_CUR ? position->next : 0;
  if (event->whence != SEEK_SET && event->whence != SEEK_CUR) {
    position->last_end = -1; /* nobody knows where the file ends */
    position->is_placed = 0;
    return;
  }
  position->is_placed |= event->whence == SEEK_SET;
  if (__builtin_add_overflow(from, event->offset, &position->next) || position->next < 0) {
    position->next = 0;
    position->is_placed = event->whence == SEEK_SET && event->offset == -1; /* rewind */
  }
}

/* At least one byte was read or written. */
static void transfer(file_position *position, int is_write, const moment *event, io_place *place) {
  const int64_t start = event->offset >= 0 ? event->offset : position->next;
  const int64_t end = event->result > INT64_MAX - start ? INT64_MAX : start + event->result;
  const file_piece piece = {start, end};
  place->sequence = position->last_end < 0 ? -1 : start == position->last_end;
  place->is_placed = event->offset >= 0 || position->is_placed;
  position->last_end = end;
  if (event->offset < 0) position->next = end;
  if (!place->is_placed) return;
  place->is_unaligned = start % FILE_BLOCK != 0;
  place->again_bytes = piece_add(is_write ? &position->written : &position->read, &piece);
  /* What was written since must be read again. */
  if (is_write && overlap(&position->read, &piece)) position->read = (file_piece){0, 0};
}

static int is_moving(enum io_kind kind) {
  return kind == IO_OPEN || kind == IO_CLOSE || kind == IO_SEEK || kind == IO_MOVE;
}

int file_positions_add(file_positions *positions, enum io_kind kind, const moment *event, io_place *place) {
  const int is_transfer = kind == IO_READ || kind == IO_WRITE;
  file_position *position;
  *place = (io_place){.sequence = -1};
  if (!event->file || !(is_transfer || is_moving(kind))) return 1;
  position = position_in(positions, event->file);
  if (!position) return 0;
  if (kind == IO_WRITE) position->is_written = 1;
  if (kind == IO_CLOSE) {
    place->is_flush = position->is_written;
    position->is_written = 0;
  } else if (kind == IO_OPEN) {
    position->last_end = -1;
    position->next = 0;
    position->is_placed = event->whence == SEEK_SET; /* not if it appends */
  } else if (kind == IO_SEEK) {
    if (event->result < 0) return 1;
    position->next = event->result;
    position->is_placed = 1;
  } else if (event->result == NO_RESULT && is_transfer) {
    position->last_end = -1; /* nobody knows where it ended */
    position->is_placed = 0;
  } else if (kind == IO_MOVE) {
    if (event->result >= 0) move(position, event);
  } else if (event->result > 0) { /* 0: the end of the file */
    transfer(position, kind == IO_WRITE, event, place);
  }
  return 1;
}

void file_positions_free(file_positions *positions) {
  free(positions->list);
  free(positions->slots);
  *positions = (file_positions){0};
}
