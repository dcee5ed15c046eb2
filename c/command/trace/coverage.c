/* coverage.c - the self time of events on one thread.
 * SPDX-License-Identifier: MIT */
#include "coverage.h"

#include <stdlib.h>
#include <string.h>

/* ---- Order ---------------------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
  const moment *one = a, *two = b;
  if (one->end != two->end) return one->end < two->end ? -1 : 1;
  if (one->start != two->start) return one->start > two->start ? -1 : 1;
  return (int)two->level - (int)one->level;
}

/* The end of the sorted run that begins at `start`. */
static uint32_t run_end(const moment *moments, uint32_t start, uint32_t count) {
  uint32_t end = start + (start < count);
  while (end < count && compare(&moments[end - 1], &moments[end]) <= 0) end++;
  return end;
}

/* Merges each pair of neighbouring runs. Returns the number of runs that are left. */
static uint32_t merge_runs(const moment *from, moment *to, uint32_t count) {
  uint32_t runs = 0, out = 0;
  for (uint32_t left = 0, right_end; left < count; left = right_end, runs++) {
    uint32_t left_end = run_end(from, left, count), right = left_end;
    right_end = run_end(from, right, count);
    while (left < left_end && right < right_end)
      to[out++] = compare(&from[left], &from[right]) <= 0 ? from[left++] : from[right++];
    while (left < left_end) to[out++] = from[left++];
    while (right < right_end) to[out++] = from[right++];
  }
  return runs;
}

/* Merge sort keeps the order of equal elements. The window is nearly sorted, so the runs are long. */
static int sort(moment *moments, uint32_t count) {
  moment *spare = malloc(count * sizeof *spare);
  moment *from = moments, *to = spare;
  uint32_t runs;
  if (!spare) return 0;
  do {
    moment *other = from;
    runs = merge_runs(from, to, count);
    from = to;
    to = other;
  } while (runs > 1);
  if (from != moments) memcpy(moments, from, count * sizeof *moments);
  free(spare);
  return 1;
}

/* ---- Spans ---------------------------------------------------------------------------------------------------------- */

/* Joins a span with the next one. */
static void join(span *into, const span *from) {
  into->covered += from->covered;
  into->end = from->end;
  if (into->parent != from->parent) into->parent = 0;
}

static void compact(coverage *thread) {
  uint32_t kept = 0;
  thread->compacted++;
  for (uint32_t i = 1; i < thread->span_count; i++) {
    if (thread->spans[i].parent && thread->spans[i].parent == thread->spans[kept].parent)
      join(&thread->spans[kept], &thread->spans[i]);
    else thread->spans[++kept] = thread->spans[i];
  }
  thread->span_count = kept + 1;
  if (thread->span_count < SPANS_MAX / 2) return;
  kept = 0; /* the older half, pair by pair */
  for (uint32_t i = 0; i < thread->span_count; i++, kept++) {
    thread->spans[kept] = thread->spans[i];
    if (i + 1 < thread->span_count / 2) {
      join(&thread->spans[kept], &thread->spans[++i]);
      thread->merged++;
    }
  }
  thread->span_count = kept;
}

static int push(coverage *thread, span one) {
  if (thread->span_count == thread->span_capacity) {
    uint32_t capacity = thread->span_capacity ? thread->span_capacity * 2 : 64;
    span *more;
    if (thread->span_count >= SPANS_MAX) {
      compact(thread);
    } else {
      more = realloc(thread->spans, capacity * sizeof *more);
      if (!more) return 0;
      thread->spans = more;
      thread->span_capacity = capacity;
    }
  }
  thread->spans[thread->span_count++] = one;
  return 1;
}

/* The covered time of the span at or after `start`; an estimate when the span was joined from several. */
static int64_t covered_behind(const span *one, int64_t start) {
  int64_t length = one->end - one->start;
  if (start <= one->start) return one->covered;
  if (one->covered == length) return one->end - start;
  return (int64_t)((double)one->covered * ((double)(one->end - start) / (double)length));
}

/* Returns the self time of the event, and marks its time as covered. */
static int64_t account(coverage *thread, const moment *event, int *is_good) {
  span one = {event->start, event->end, event->end - event->start, event->parent};
  int64_t self = one.covered;
  uint32_t behind = 0; /* spans that start after the event ends: only a late event has any */
  span later[16];
  while (thread->span_count && thread->spans[thread->span_count - 1].start >= event->end && event->end > event->start &&
         behind < 16) {
    later[behind++] = thread->spans[--thread->span_count];
  }
  while (thread->span_count && thread->spans[thread->span_count - 1].end > event->start) {
    const span *top = &thread->spans[thread->span_count - 1];
    int64_t known = covered_behind(top, event->start);
    if (top->end > event->end) { /* late: what comes after the event is not part of it */
      int64_t past = top->end - event->end;
      self -= known > past ? known - past : 0;
      if (top->start <= event->start) { /* completely covered already */
        one.start = one.end = 0;
        break;
      }
      one.end = top->end;
      one.covered += past;
    } else {
      self -= known;
    }
    if (top->start < one.start) {
      thread->crossed++;
      one.covered += top->covered - known;
      one.start = top->start;
    }
    thread->span_count--;
  }
  if (self < 0) self = 0;
  if (one.end > one.start) *is_good &= push(thread, one);
  while (behind) *is_good &= push(thread, later[--behind]);
  thread->covered += self;
  return self;
}

/* ---- Window --------------------------------------------------------------------------------------------------------- */

static int take(coverage *thread, uint32_t count, coverage_call *call, void *context) {
  int is_good = 1;
  if (!thread->count) return 1;
  if (thread->is_unsorted && !sort(thread->window, thread->count)) return 0;
  thread->is_unsorted = 0;
  for (uint32_t i = 0; i < count; i++) {
    const moment *event = &thread->window[i];
    if (thread->events && event->end < thread->last_end) thread->late++;
    else thread->last_end = event->end;
    thread->events++;
    call(context, event, account(thread, event, &is_good));
  }
  memmove(thread->window, thread->window + count, (thread->count - count) * sizeof *thread->window);
  thread->count -= count;
  return is_good;
}

int coverage_add(coverage *thread, const moment *event, uint32_t window, coverage_call *call, void *context) {
  if (thread->count >= window && !take(thread, thread->count - window / 2, call, context)) return 0;
  if (thread->count == thread->capacity) {
    uint32_t capacity = thread->capacity ? thread->capacity * 2 : 64;
    moment *more = realloc(thread->window, capacity * sizeof *more);
    if (!more) return 0;
    thread->window = more;
    thread->capacity = capacity;
  }
  if (!thread->events && !thread->count) {
    thread->first = event->start;
    thread->last = event->end;
  }
  if (event->start < thread->first) thread->first = event->start;
  if (event->end > thread->last) thread->last = event->end;
  if (thread->count && compare(&thread->window[thread->count - 1], event) > 0) thread->is_unsorted = 1;
  thread->window[thread->count++] = *event;
  return 1;
}

int coverage_flush(coverage *thread, coverage_call *call, void *context) {
  int is_good = take(thread, thread->count, call, context);
  free(thread->window);
  free(thread->spans);
  thread->window = NULL;
  thread->spans = NULL;
  thread->count = thread->capacity = thread->span_count = thread->span_capacity = 0;
  return is_good;
}

void coverage_free(coverage *thread) {
  free(thread->window);
  free(thread->spans);
}
