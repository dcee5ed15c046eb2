/* iostat.c - what I/O calls moved, and how.
 * SPDX-License-Identifier: MIT */
#include "iostat.h"

#include <stddef.h>

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

/* ---- Counting ------------------------------------------------------------------------------------------------------- */

/* At least one byte was read or written. */
static void count_bytes(io_side *side, uint64_t bytes, uint64_t time_ns, int is_stream, const io_place *place) {
  add_saturating(&side->bytes, bytes);
  if (bytes < SMALL_BYTES) {
    side->small++;
    side->small_bytes += bytes;
    add_saturating(&side->small_ns, time_ns);
  }
  if (place->sequence == 0) {
    side->random++;
    add_saturating(&side->random_ns, time_ns);
  }
  side->placed += (uint64_t)place->is_placed;
  if (place->is_unaligned) {
    side->unaligned++;
    add_saturating(&side->unaligned_ns, time_ns);
  }
  add_saturating(&side->again_bytes, place->again_bytes);
  if (is_stream) add_saturating(&side->stdio_bytes, bytes);
}

static void count_other(io_stats *stats, enum io_kind kind, const moment *event, uint64_t time_ns) {
  stats->others++;
  add_saturating(&stats->other_ns, time_ns);
  if (kind == IO_OPEN) {
    stats->opens++;
    add_saturating(&stats->open_ns, time_ns);
  } else if (kind == IO_CLOSE) {
    stats->closes++;
    add_saturating(&stats->close_ns, time_ns);
  } else if (kind == IO_MAP && event->result > 0) {
    add_saturating(&stats->mapped_bytes, (uint64_t)event->result);
  }
}

static void widen(io_stats *stats, int64_t first, int64_t last) {
  const int is_first = !io_stats_calls(stats);
  if (is_first || first < stats->first) stats->first = first;
  if (is_first || last > stats->last) stats->last = last;
}

int io_stats_count(io_stats *stats, enum io_kind kind, const event_class *class, const moment *event,
                   const io_place *place) {
  const uint64_t time_ns = (uint64_t)(event->end - event->start);
  io_side *side = kind == IO_READ ? &stats->read : &stats->write;
  widen(stats, event->start, event->end);
  if (is_failure(event)) {
    stats->failed++;
    add_saturating(&stats->failed_ns, time_ns);
  }
  if (kind != IO_READ && kind != IO_WRITE) {
    count_other(stats, kind, event, time_ns);
    return 1;
  }
  side->count++;
  add_saturating(&side->ns, time_ns);
  if (class->is_stream) add_saturating(&side->stdio_ns, time_ns);
  side->unknown += event->result == NO_RESULT;
  if (event->result <= 0) return 1;
  stats->sequential += place->sequence == 1;
  count_bytes(side, (uint64_t)event->result, time_ns, class->is_stream, place);
  return histogram_add(&stats->sizes, (uint64_t)event->result);
}

/* ---- Merging -------------------------------------------------------------------------------------------------------- */

int io_stats_merge(io_stats *into, const io_stats *from) {
  uint64_t *const sums[] = {IO_STATS_NUMBERS(into)};
  const uint64_t *const numbers[] = {IO_STATS_NUMBERS(from)};
  _Static_assert(sizeof sums / sizeof sums[0] == IO_STATS_COUNT, "IO_STATS_NUMBERS lists all numbers");
  _Static_assert(offsetof(io_stats, first) == IO_STATS_COUNT * sizeof(uint64_t), "io_stats has no other numbers");
  if (io_stats_calls(from)) widen(into, from->first, from->last);
  for (size_t i = 0; i < IO_STATS_COUNT; i++) add_saturating(sums[i], *numbers[i]);
  return histogram_merge(&into->sizes, &from->sizes);
}

int io_stats_move(io_stats *into, io_stats *from) {
  int is_good = 1;
  if (io_stats_calls(into)) {
    is_good = io_stats_merge(into, from);
    histogram_free(&from->sizes);
  } else {
    histogram_free(&into->sizes);
    *into = *from;
  }
  *from = (io_stats){0};
  return is_good;
}
