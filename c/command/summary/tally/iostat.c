/* iostat.c - what I/O calls moved, and how.
 * SPDX-License-Identifier: MIT */
#include "iostat.h"

#include <stdlib.h>

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

static void count_other(io_stats *stats, enum io_kind kind, const moment *event, uint64_t time_ns, int is_flush) {
  stats->others++;
  add_saturating(&stats->other_ns, time_ns);
  if (kind == IO_SYNC || is_flush) {
    stats->syncs++;
    add_saturating(&stats->sync_ns, time_ns);
  }
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
    count_other(stats, kind, event, time_ns, place->is_flush);
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

const io_stats io_stats_none = {0};

/* Many files are only read, or only written. */
int io_stats_merge(io_stats *into, const io_stats *from) {
  const size_t side_numbers = sizeof(io_side) / sizeof(uint64_t);
  if (io_stats_calls(from)) widen(into, from->first, from->last);
  if (from->read.count) add_numbers(&into->read.count, &from->read.count, side_numbers);
  if (from->write.count) add_numbers(&into->write.count, &from->write.count, side_numbers);
  add_numbers(&into->others, &from->others, IO_STATS_NUMBERS - 2 * side_numbers);
  return histogram_merge(&into->sizes, &from->sizes);
}

int io_stats_take(io_stats **into, io_stats *from) {
  int is_good = 1;
  if (*into && from) {
    is_good = io_stats_merge(*into, from);
    io_stats_free(from);
  } else if (from) {
    *into = from;
  }
  return is_good;
}

void io_stats_free(io_stats *stats) {
  if (stats) histogram_free(&stats->sizes);
  free(stats);
}
