/* spanset.c - the time in which something was going on.
 * SPDX-License-Identifier: MIT */
#include "spanset.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "command/trace/naturalsort.h"
#include "command/trace/spill.h"

#define SPANS_FIRST 16u
#define SHIFT_MOST 32u  /* how far a span may be from its place to be put there at once */
#define SPANS_LEAST 64u /* are kept in memory in any case: a run of fewer is not worth it */

/* ---- In memory ------------------------------------------------------------------------------------------------------ */

static int by_start(const void *a, const void *b) {
  const time_span *one = a, *two = b;
  return (one->start > two->start) - (one->start < two->start);
}

int time_span_order(const void *one, const void *two) {
  const time_span *first = one, *second = two;
  const int order = by_start(one, two);
  return order ? order : (first->end > second->end) - (first->end < second->end);
}

static void tidy(spanset *set) {
  uint32_t kept = 0;
  if (!set->last_run) return;
  if (!natural_sort(set->spans, set->count, sizeof *set->spans, by_start))
    qsort(set->spans, set->count, sizeof *set->spans, by_start); /* slower, but without memory */
  for (uint32_t i = 1; i < set->count; i++) {
    time_span *last = &set->spans[kept];
    if (set->spans[i].start > last->end) set->spans[++kept] = set->spans[i];
    else if (set->spans[i].end > last->end) last->end = set->spans[i].end;
  }
  set->count = kept + 1;
  set->last_run = 0;
}

/* Gives the set room for this many spans, at least as many as it has. */
static int resize(spanset *set, uint32_t capacity) {
  time_span *spans = NULL;
  if (capacity) {
    spans = realloc(set->spans, capacity * sizeof *spans);
    if (!spans) return 0;
  } else {
    free(set->spans);
  }
  spill_hold((uint64_t)capacity * sizeof *spans);
  spill_release((uint64_t)set->capacity * sizeof *spans);
  set->spans = spans;
  set->capacity = capacity;
  return 1;
}

static int spill(spanset *set) {
  if (!spilled_runs_add(&set->runs, set->spans, set->count, sizeof *set->spans)) return 0;
  set->count = 0;
  return 1;
}

static int make_room(spanset *set) {
  uint32_t capacity = set->capacity ? set->capacity * 2 : SPANS_FIRST;
  tidy(set);
  if (set->count <= set->capacity / 2 && set->capacity) return 1;
  if (capacity > SPANS_LEAST && !spill_is_within((capacity - set->capacity) * sizeof *set->spans, 1)) return spill(set);
  return resize(set, capacity);
}

/* Where a span that starts then belongs in the last run. If that is too far away, the span begins a run of its own. */
static uint32_t place_of(spanset *set, int64_t start) {
  uint32_t at = set->count;
  uint32_t limit = at - set->last_run > SHIFT_MOST ? at - SHIFT_MOST : set->last_run;
  while (at > limit && set->spans[at - 1].start > start) at--;
  if (at > limit || at == set->last_run || set->spans[at - 1].start <= start) return at;
  return set->last_run = set->count;
}

/* Unites a span with those behind it that it reaches. */
static void absorb(spanset *set, uint32_t at) {
  time_span *span = &set->spans[at];
  uint32_t next = at + 1;
  for (; next < set->count && set->spans[next].start <= span->end; next++) {
    if (set->spans[next].end > span->end) span->end = set->spans[next].end;
  }
  if (next == at + 1) return;
  memmove(span + 1, set->spans + next, (set->count - next) * sizeof *span);
  set->count -= next - at - 1;
}

/* Behind all others of the last run, as most are. Returns 0 if it is not. */
static int append(spanset *set, int64_t start, int64_t end) {
  time_span *last = &set->spans[set->count - 1];
  if (set->count == set->last_run || start > last->end) {
    set->spans[set->count++] = (time_span){start, end};
    return 1;
  }
  if (start < last->start) return 0;
  if (end > last->end) last->end = end;
  return 1;
}

int spanset_put(spanset *set, int64_t start, int64_t end) {
  uint32_t at;
  if (set->count == set->capacity && !make_room(set)) return 0;
  assert(set->spans);
  if (append(set, start, end)) return 1;
  at = place_of(set, start);
  if (at > set->last_run && set->spans[at - 1].end >= start) {
    if (set->spans[--at].end >= end) return 1;
    set->spans[at].end = end;
  } else {
    memmove(set->spans + at + 1, set->spans + at, (set->count++ - at) * sizeof *set->spans);
    set->spans[at] = (time_span){start, end};
  }
  absorb(set, at);
  return 1;
}

int spanset_settle(spanset *set) {
  tidy(set);
  if (set->count > SPANS_LEAST && !spill_is_within(0, 0.5) && !spill(set)) return 0;
  return set->count == set->capacity || resize(set, set->count);
}

void spanset_free(spanset *set) {
  resize(set, 0);
  spilled_runs_free(&set->runs);
  *set = (spanset){0};
}

/* ---- Streams -------------------------------------------------------------------------------------------------------- */

int span_stream_open(span_stream *stream, spanset *const *sets, uint32_t count) {
  run_merge_init(&stream->merge, sizeof(time_span), by_start);
  for (uint32_t i = 0; i < count; i++) {
    tidy(sets[i]);
    run_merge_add(&stream->merge, sets[i]->spans, sets[i]->count);
    run_merge_add_spilled(&stream->merge, &sets[i]->runs);
  }
  stream->next = run_merge_next(&stream->merge);
  return stream->merge.is_good;
}

void span_stream_close(span_stream *stream) {
  run_merge_free(&stream->merge);
}

int spanset_move(spanset *into, spanset *from) {
  span_stream stream;
  time_span span;
  int is_good;
  if (spanset_is_empty(into)) {
    spanset empty = *into;
    *into = *from;
    *from = empty;
    return 1;
  }
  is_good = span_stream_open(&stream, &from, 1);
  while (is_good && span_stream_next(&stream, &span)) is_good = spanset_add(into, span.start, span.end);
  is_good = is_good && stream.merge.is_good;
  span_stream_close(&stream);
  spanset_free(from);
  return is_good;
}

int spanset_add_rest(spanset *set, spanset *one, spanset *two) {
  span_stream first, second;
  time_span span, other = {0, 0};
  int is_good = span_stream_open(&first, &one, 1) & span_stream_open(&second, &two, 1);
  int has_other = is_good && span_stream_next(&second, &other);
  while (is_good && span_stream_next(&first, &span)) {
    while (has_other && other.start < span.end) {
      if (other.start > span.start) is_good &= spanset_add(set, span.start, other.start);
      if (other.end > span.start) span.start = other.end;
      if (other.end > span.end) break;
      has_other = span_stream_next(&second, &other);
    }
    is_good &= spanset_add(set, span.start, span.end);
  }
  is_good = is_good && first.merge.is_good && second.merge.is_good;
  span_stream_close(&first);
  span_stream_close(&second);
  return is_good;
}

/* ---- Lengths -------------------------------------------------------------------------------------------------------- */

static int advance(span_stream *stream, time_span *span, uint64_t *length) {
  if (!span_stream_next(stream, span)) return 0;
  *length += time_between(span->start, span->end);
  return 1;
}

int span_streams_measure(span_stream *one, span_stream *two, span_lengths *lengths) {
  time_span a = {0, 0}, b = {0, 0};
  int has_a, has_b;
  *lengths = (span_lengths){0, 0, 0};
  has_a = advance(one, &a, &lengths->one);
  has_b = advance(two, &b, &lengths->two);
  while (has_a && has_b) {
    int64_t start = a.start > b.start ? a.start : b.start, end = a.end < b.end ? a.end : b.end;
    if (end > start) lengths->common += time_between(start, end);
    if (a.end < b.end) has_a = advance(one, &a, &lengths->one);
    else has_b = advance(two, &b, &lengths->two);
  }
  while (has_a) has_a = advance(one, &a, &lengths->one);
  while (has_b) has_b = advance(two, &b, &lengths->two);
  return one->merge.is_good && two->merge.is_good;
}

int spanset_measure(spanset *const *one, uint32_t one_count, spanset *const *two, uint32_t two_count,
                    span_lengths *lengths) {
  span_stream first, second;
  int is_good = span_stream_open(&first, one, one_count) & span_stream_open(&second, two, two_count);
  is_good = is_good && span_streams_measure(&first, &second, lengths);
  span_stream_close(&first);
  span_stream_close(&second);
  return is_good;
}
