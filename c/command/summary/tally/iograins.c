/* iograins.c - when a process was in I/O calls, in little room.
 * SPDX-License-Identifier: MIT */
#include "iograins.h"

#include <stdlib.h>

#define GRAINS_FIRST 16u

static int by_start(const void *a, const void *b) {
  const io_grain *one = a, *two = b;
  if (one->start != two->start) return one->start < two->start ? -1 : 1;
  return (one->end > two->end) - (one->end < two->end);
}

static void prepare(record_pile *grains) {
  grains->record_bytes = sizeof(io_grain);
  grains->compare = by_start;
}

int io_grains_add(record_pile *grains, const io_grain *grain) {
  prepare(grains);
  return record_pile_add(grains, grain);
}

/* ---- Making --------------------------------------------------------------------------------------------------------- */

static int joins(const grain_maker *maker, const io_grain *last, const io_grain *next) {
  return (uint64_t)last->start - (uint64_t)next->end < maker->reach;
}

static void join(io_grain *last, const io_grain *next) {
  last->start = next->start;
  last->busy_ns += next->busy_ns;
}

static void coarsen(grain_maker *maker) {
  uint32_t kept = 0;
  maker->reach *= 2;
  for (uint32_t i = 1; i < maker->count; i++) {
    if (joins(maker, &maker->list[kept], &maker->list[i])) join(&maker->list[kept], &maker->list[i]);
    else maker->list[++kept] = maker->list[i];
  }
  maker->count = kept + 1;
}

/* Adds a grain where the list is full. Times come in order, so what has no room now would have none in the end either. */
__attribute__((noinline)) static int add_beyond(grain_maker *maker, const io_grain *grain) {
  io_grain *list;
  if (maker->count == GRAINS_EXACT) {
    while (maker->count == GRAINS_EXACT && !joins(maker, &maker->list[maker->count - 1], grain)) coarsen(maker);
  } else {
    const uint32_t capacity = maker->capacity ? maker->capacity * 2 : GRAINS_FIRST;
    if (!maker->reach) maker->reach = 1;
    list = realloc(maker->list, capacity * sizeof *list);
    if (!list) return 0;
    maker->list = list;
    maker->capacity = capacity;
  }
  if (maker->count && joins(maker, &maker->list[maker->count - 1], grain)) join(&maker->list[maker->count - 1], grain);
  else maker->list[maker->count++] = *grain;
  return 1;
}

int grain_maker_add(grain_maker *maker, int64_t start, int64_t end) {
  const io_grain grain = {start, end, (uint64_t)(end - start)};
  if (start == end) return 1;
  if (maker->count == maker->capacity) return add_beyond(maker, &grain);
  if (maker->count && joins(maker, &maker->list[maker->count - 1], &grain)) {
    join(&maker->list[maker->count - 1], &grain);
    return 1;
  }
  maker->list[maker->count++] = grain;
  return 1;
}

int grain_maker_end(grain_maker *maker, record_pile *grains) {
  const grain_maker made = *maker;
  for (uint32_t i = 0; i < made.count / 2; i++) { /* the latest came first */
    io_grain *one = &made.list[i], *two = &made.list[made.count - 1 - i], kept = *one;
    *one = *two;
    *two = kept;
  }
  *maker = (grain_maker){0};
  prepare(grains);
  return !made.list || record_pile_take(grains, made.list, made.count, made.capacity);
}

/* ---- Reading -------------------------------------------------------------------------------------------------------- */

int io_grains_stream(span_stream *stream, record_pile *const *grains, uint32_t count) {
  run_merge_init(&stream->merge, sizeof(io_grain), by_start);
  for (uint32_t i = 0; i < count; i++) record_pile_join(grains[i], &stream->merge);
  stream->next = run_merge_next(&stream->merge);
  return stream->merge.is_good;
}

uint64_t io_grains_busy(record_pile *grains) {
  run_merge merge;
  const io_grain *grain;
  uint64_t sum = 0;
  record_pile_read(grains, &merge);
  while ((grain = run_merge_next(&merge)) != NULL) sum += grain->busy_ns;
  run_merge_free(&merge);
  return sum;
}
