/* busytime.c - the time in which one kind of work was going on.
 * SPDX-License-Identifier: MIT */
#include "busytime.h"

#include <stdlib.h>

static int by_start(const void *a, const void *b) {
  const busy_span *one = a, *two = b;
  return (one->start > two->start) - (one->start < two->start);
}

static int by_size(const void *a, const void *b) {
  int64_t one = *(const int64_t *)a, two = *(const int64_t *)b;
  return (one > two) - (one < two);
}

/* Joins neighbours with at most `gap` between them. */
static void unite(busy_time *busy, int64_t gap) {
  uint32_t kept = 0;
  for (uint32_t i = 1; i < busy->count; i++) {
    busy_span *last = &busy->spans[kept];
    if (busy->spans[i].start - last->end <= gap) {
      if (busy->spans[i].start > last->end) busy->closed_ns += (uint64_t)(busy->spans[i].start - last->end);
      if (busy->spans[i].end > last->end) last->end = busy->spans[i].end;
    } else {
      busy->spans[++kept] = busy->spans[i];
    }
  }
  if (busy->count) busy->count = kept + 1;
}

static void tidy(busy_time *busy) {
  if (busy->is_tidy || !busy->count) return;
  qsort(busy->spans, busy->count, sizeof *busy->spans, by_start);
  unite(busy, 0);
  busy->is_tidy = 1;
}

/* Closes the smaller half of the gaps. */
static void shrink(busy_time *busy) {
  int64_t *gaps = malloc(busy->count * sizeof *gaps);
  if (!gaps) return;
  for (uint32_t i = 1; i < busy->count; i++) gaps[i - 1] = busy->spans[i].start - busy->spans[i - 1].end;
  qsort(gaps, busy->count - 1, sizeof *gaps, by_size);
  unite(busy, gaps[busy->count / 2]);
  free(gaps);
}

int busy_time_add(busy_time *busy, int64_t start, int64_t end) {
  if (end <= start) return 1;
  if (busy->count == busy->capacity) {
    if (busy->count >= BUSY_SPANS_MAX) {
      tidy(busy);
      if (busy->count > BUSY_SPANS_MAX / 2) shrink(busy);
      if (busy->count == busy->capacity) return 0;
    } else {
      uint32_t capacity = busy->capacity ? busy->capacity * 2 : 64;
      busy_span *more = realloc(busy->spans, capacity * sizeof *more);
      if (!more) return 0;
      busy->spans = more;
      busy->capacity = capacity;
    }
  }
  busy->spans[busy->count++] = (busy_span){start, end};
  busy->is_tidy = 0;
  return 1;
}

int busy_time_move(busy_time *into, busy_time *from) {
  int is_good = 1;
  for (uint32_t i = 0; is_good && i < from->count; i++) {
    is_good = busy_time_add(into, from->spans[i].start, from->spans[i].end);
  }
  into->closed_ns += from->closed_ns;
  busy_time_free(from);
  return is_good;
}

uint64_t busy_time_total(busy_time *busy) {
  uint64_t time = 0;
  tidy(busy);
  for (uint32_t i = 0; i < busy->count; i++) time += (uint64_t)(busy->spans[i].end - busy->spans[i].start);
  return time;
}

uint64_t busy_time_overlap(busy_time *one, busy_time *two) {
  uint64_t time = 0;
  uint32_t i = 0, k = 0;
  tidy(one);
  tidy(two);
  while (i < one->count && k < two->count) {
    int64_t start = one->spans[i].start > two->spans[k].start ? one->spans[i].start : two->spans[k].start;
    int64_t end = one->spans[i].end < two->spans[k].end ? one->spans[i].end : two->spans[k].end;
    if (end > start) time += (uint64_t)(end - start);
    if (one->spans[i].end < two->spans[k].end) i++;
    else k++;
  }
  return time;
}

void busy_time_free(busy_time *busy) {
  free(busy->spans);
  *busy = (busy_time){0};
}
