/* overlap.c - moments in time that belong to one kind of work.
 * SPDX-License-Identifier: MIT */
#include "overlap.h"

#include <stdlib.h>

static int by_start(const void *a, const void *b) {
  const work_span *one = a, *two = b;
  return (one->start > two->start) - (one->start < two->start);
}

static int by_size(const void *a, const void *b) {
  int64_t one = *(const int64_t *)a, two = *(const int64_t *)b;
  return (one > two) - (one < two);
}

/* Makes one of neighbours with at most `gap` between them. */
static void unite(work *of, int64_t gap) {
  uint32_t kept = 0;
  for (uint32_t i = 1; i < of->count; i++) {
    work_span *last = &of->spans[kept];
    if (of->spans[i].start - last->end <= gap) {
      if (of->spans[i].start > last->end) of->closed_ns += (uint64_t)(of->spans[i].start - last->end);
      if (of->spans[i].end > last->end) last->end = of->spans[i].end;
    } else {
      of->spans[++kept] = of->spans[i];
    }
  }
  if (of->count) of->count = kept + 1;
}

void work_tidy(work *of) {
  if (of->is_tidy || !of->count) return;
  qsort(of->spans, of->count, sizeof *of->spans, by_start);
  unite(of, 0);
  of->is_tidy = 1;
}

/* Closes the smaller half of the gaps. */
static void shrink(work *of) {
  int64_t *gaps = malloc(of->count * sizeof *gaps);
  if (!gaps) return;
  for (uint32_t i = 1; i < of->count; i++) gaps[i - 1] = of->spans[i].start - of->spans[i - 1].end;
  qsort(gaps, of->count - 1, sizeof *gaps, by_size);
  unite(of, gaps[of->count / 2]);
  free(gaps);
}

int work_add(work *of, int64_t start, int64_t end) {
  if (end <= start) return 1;
  if (of->count == of->capacity) {
    if (of->count >= OVERLAP_SPANS) {
      work_tidy(of);
      if (of->count > OVERLAP_SPANS / 2) shrink(of);
      if (of->count == of->capacity) return 0;
    } else {
      uint32_t capacity = of->capacity ? of->capacity * 2 : 64;
      work_span *more = realloc(of->spans, capacity * sizeof *more);
      if (!more) return 0;
      of->spans = more;
      of->capacity = capacity;
    }
  }
  of->spans[of->count++] = (work_span){start, end};
  of->is_tidy = 0;
  return 1;
}

uint64_t work_time(work *of) {
  uint64_t time = 0;
  work_tidy(of);
  for (uint32_t i = 0; i < of->count; i++) time += (uint64_t)(of->spans[i].end - of->spans[i].start);
  return time;
}

uint64_t work_shared(work *one, work *two) {
  uint64_t time = 0;
  uint32_t i = 0, k = 0;
  work_tidy(one);
  work_tidy(two);
  while (i < one->count && k < two->count) {
    int64_t start = one->spans[i].start > two->spans[k].start ? one->spans[i].start : two->spans[k].start;
    int64_t end = one->spans[i].end < two->spans[k].end ? one->spans[i].end : two->spans[k].end;
    if (end > start) time += (uint64_t)(end - start);
    if (one->spans[i].end < two->spans[k].end) i++;
    else k++;
  }
  return time;
}

void work_free(work *of) {
  free(of->spans);
}
