/* iostat.c - what I/O calls moved, and in which order.
 * SPDX-License-Identifier: MIT */
#include "iostat.h"

#include <stdio.h>
#include <stdlib.h>

#define SLOTS_FIRST 16u

int64_t io_result(const event_class *class, int64_t ret, int64_t error, int64_t length) {
  if (ret == NO_RESULT) return NO_RESULT;
  switch (class->returns) {
    case RETURNS_CHARACTER: return ret < 0 ? ret : 1;
    case RETURNS_CHARACTER_END: return ret >= 0 ? 1 : error > 0 ? ret : 0;
    case RETURNS_ITEMS: return ret < 0 && error > 0 ? ret : NO_RESULT;
    default: break;
  }
  if (class->io == IO_MAP && ret >= 0) return length > 0 ? length : 0;
  return ret;
}

int io_stats_count(io_stats *stats, enum io_kind kind, const moment *event, int sequence) {
  uint64_t time_ns = (uint64_t)(event->end - event->start);
  int is_transfer = kind == IO_READ || kind == IO_WRITE;
  if (kind == IO_READ) {
    stats->reads++;
    add_saturating(&stats->read_ns, time_ns);
    if (event->result > 0) add_saturating(&stats->read_bytes, (uint64_t)event->result);
  } else if (kind == IO_WRITE) {
    stats->writes++;
    add_saturating(&stats->write_ns, time_ns);
    if (event->result > 0) add_saturating(&stats->write_bytes, (uint64_t)event->result);
  } else {
    stats->others++;
    add_saturating(&stats->other_ns, time_ns);
    if (kind == IO_MAP && event->result > 0) add_saturating(&stats->mapped_bytes, (uint64_t)event->result);
  }
  stats->sequential += sequence == 1;
  stats->random += sequence == 0;
  stats->failed += is_failure(event);
  stats->unknown_reads += kind == IO_READ && event->result == NO_RESULT;
  stats->unknown_writes += kind == IO_WRITE && event->result == NO_RESULT;
  return !is_transfer || event->result <= 0 || histogram_add(&stats->sizes, (uint64_t)event->result);
}

int io_stats_merge(io_stats *into, const io_stats *from) {
  uint64_t *const sums[] = {IO_STATS_NUMBERS(into)};
  const uint64_t *const numbers[] = {IO_STATS_NUMBERS(from)};
  for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) add_saturating(sums[i], *numbers[i]);
  return histogram_merge(&into->sizes, &from->sizes);
}

/* ---- Positions ------------------------------------------------------------------------------------------------------ */

/* The file's slot, or the free one where it belongs. */
static file_position *slot_of(file_position *slots, uint32_t slot_count, uint32_t file) {
  uint32_t at = file & (slot_count - 1);
  while (slots[at].file && slots[at].file != file) at = (at + 1) & (slot_count - 1);
  return &slots[at];
}

static int enlarge(file_positions *positions) {
  uint32_t count = positions->slot_count ? positions->slot_count * 2 : SLOTS_FIRST;
  file_position *slots = calloc(count, sizeof *slots);
  if (!slots) return 0;
  for (uint32_t i = 0; i < positions->slot_count; i++) {
    const file_position *old = &positions->slots[i];
    if (old->file) *slot_of(slots, count, old->file) = *old;
  }
  free(positions->slots);
  positions->slots = slots;
  positions->slot_count = count;
  return 1;
}

/* The position in a file. */
static file_position *position_in(file_positions *positions, uint32_t file) {
  file_position *slot;
  if (positions->count * 2 >= positions->slot_count && !enlarge(positions)) return NULL;
  slot = slot_of(positions->slots, positions->slot_count, file);
  if (!slot->file) {
    *slot = (file_position){.file = file, .last_end = -1, .next = 0};
    positions->count++;
  }
  return slot;
}

/* fseek returns 0, and not the new position. Without an offset it is rewind. */
static void move(file_position *position, const moment *event) {
  int64_t from = event->whence == SEEK_CUR ? position->next : 0;
  if (event->whence != SEEK_SET && event->whence != SEEK_CUR) {
    position->last_end = -1; /* nobody knows where the file ends */
  } else if (__builtin_add_overflow(from, event->offset, &position->next) || position->next < 0) {
    position->next = 0;
  }
}

int file_positions_sequence(file_positions *positions, enum io_kind kind, const moment *event) {
  file_position *position;
  int64_t start;
  int result;
  if (!event->file || kind == IO_OTHER || kind == IO_COPY || kind == IO_MAP || kind == IO_NONE) return -1;
  position = position_in(positions, event->file);
  if (!position) return -1;
  if (kind == IO_OPEN) {
    *position = (file_position){.file = event->file, .last_end = -1, .next = 0};
    return -1;
  }
  if (kind == IO_SEEK) {
    if (event->result >= 0) position->next = event->result;
    return -1;
  }
  if (event->result == NO_RESULT && kind != IO_MOVE) position->last_end = -1; /* nobody knows where it ended */
  if (event->result < 0) return -1;
  if (kind == IO_MOVE) {
    move(position, event);
    return -1;
  }
  if (!event->result) return -1; /* the end of the file: nothing was transferred */
  start = event->offset >= 0 ? event->offset : position->next;
  result = position->last_end < 0 ? -1 : start == position->last_end;
  position->last_end = event->result > INT64_MAX - start ? INT64_MAX : start + event->result;
  if (event->offset < 0) position->next = position->last_end;
  return result;
}

void file_positions_free(file_positions *positions) {
  free(positions->slots);
  *positions = (file_positions){0};
}
