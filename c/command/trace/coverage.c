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

/* Merge sort keeps the order of equals; the window is nearly in order, so runs are long. */
static int sort(moment *moments, uint32_t count) {
  moment *spare = malloc(count * sizeof *spare);
  moment *from = moments, *to = spare;
  uint32_t runs;
  if (!spare) return 0;
  do {
    uint32_t at = 0, out = 0;
    runs = 0;
    while (at < count) {
      uint32_t left = at, left_end, right, right_end;
      for (left_end = left + 1; left_end < count && compare(&from[left_end - 1], &from[left_end]) <= 0;) left_end++;
      right = left_end;
      for (right_end = right + (right < count);
           right_end < count && compare(&from[right_end - 1], &from[right_end]) <= 0;) {
        right_end++;
      }
      while (left < left_end && right < right_end) {
        to[out++] = compare(&from[left], &from[right]) <= 0 ? from[left++] : from[right++];
      }
      while (left < left_end) to[out++] = from[left++];
      while (right < right_end) to[out++] = from[right++];
      at = right_end;
      runs++;
    }
    moment *other = from;
    from = to;
    to = other;
  } while (runs > 1);
  if (from != moments) memcpy(moments, from, count * sizeof *moments);
  free(spare);
  return 1;
}

/* ---- Spans ---------------------------------------------------------------------------------------------------------- */

/* Makes one of `spans[i]` and the one behind it. */
static void join(span *into, const span *from) {
  into->covered += from->covered;
  into->end = from->end;
  if (into->parent != from->parent) into->parent = 0;
}

static void compact(coverage *of) {
  uint32_t kept = 0;
  of->compacted++;
  for (uint32_t i = 1; i < of->span_count; i++) {
    if (of->spans[i].parent && of->spans[i].parent == of->spans[kept].parent) join(&of->spans[kept], &of->spans[i]);
    else of->spans[++kept] = of->spans[i];
  }
  of->span_count = kept + 1;
  if (of->span_count < SPANS_MAX / 2) return;
  kept = 0; /* the older half, pair by pair */
  for (uint32_t i = 0; i < of->span_count; i++, kept++) {
    of->spans[kept] = of->spans[i];
    if (i + 1 < of->span_count / 2) {
      join(&of->spans[kept], &of->spans[++i]);
      of->merged++;
    }
  }
  of->span_count = kept;
}

static int push(coverage *of, span one) {
  if (of->span_count == of->span_capacity) {
    uint32_t capacity = of->span_capacity ? of->span_capacity * 2 : 64;
    span *more;
    if (of->span_count >= SPANS_MAX) {
      compact(of);
    } else {
      more = realloc(of->spans, capacity * sizeof *more);
      if (!more) return 0;
      of->spans = more;
      of->span_capacity = capacity;
    }
  }
  of->spans[of->span_count++] = one;
  return 1;
}

/* What of the span lies at or behind `start`; of one that was put together, in proportion. */
static int64_t covered_behind(const span *one, int64_t start) {
  int64_t length = one->end - one->start;
  if (start <= one->start) return one->covered;
  if (one->covered == length) return one->end - start;
  return (int64_t)((double)one->covered * ((double)(one->end - start) / (double)length));
}

/* Returns the self time, and makes the event part of what is covered. */
static int64_t account(coverage *of, const moment *event, int *is_good) {
  span one = {event->start, event->end, event->end - event->start, event->parent};
  int64_t self = one.covered;
  uint32_t behind = 0; /* spans that begin behind the event's end: only a late event has some */
  span later[16];
  while (of->span_count && of->spans[of->span_count - 1].start >= event->end && event->end > event->start &&
         behind < 16) {
    later[behind++] = of->spans[--of->span_count];
  }
  while (of->span_count && of->spans[of->span_count - 1].end > event->start) {
    const span *top = &of->spans[of->span_count - 1];
    int64_t known = covered_behind(top, event->start);
    if (top->end > event->end) { /* late: what lies behind the event is not part of it */
      int64_t past = top->end - event->end;
      self -= known > past ? known - past : 0;
      if (top->start <= event->start) { /* inside what is covered already */
        one.start = one.end = 0;
        break;
      }
      one.end = top->end;
      one.covered += past;
    } else {
      self -= known;
    }
    if (top->start < one.start) {
      of->crossed++;
      one.covered += top->covered - known;
      one.start = top->start;
    }
    of->span_count--;
  }
  if (self < 0) self = 0;
  if (one.end > one.start) *is_good &= push(of, one);
  while (behind) *is_good &= push(of, later[--behind]);
  of->covered += self;
  return self;
}

/* ---- Window --------------------------------------------------------------------------------------------------------- */

static int take(coverage *of, uint32_t count, coverage_call *call, void *context) {
  int is_good = 1;
  if (!of->count) return 1;
  if (of->is_unsorted && !sort(of->window, of->count)) return 0;
  of->is_unsorted = 0;
  for (uint32_t i = 0; i < count; i++) {
    const moment *event = &of->window[i];
    if (of->events && event->end < of->last_end) of->late++;
    else of->last_end = event->end;
    of->events++;
    call(context, event, account(of, event, &is_good));
  }
  memmove(of->window, of->window + count, (of->count - count) * sizeof *of->window);
  of->count -= count;
  return is_good;
}

int coverage_add(coverage *of, const moment *event, uint32_t window, coverage_call *call, void *context) {
  if (of->count >= window && !take(of, of->count - window / 2, call, context)) return 0;
  if (of->count == of->capacity) {
    uint32_t capacity = of->capacity ? of->capacity * 2 : 64;
    moment *more = realloc(of->window, capacity * sizeof *more);
    if (!more) return 0;
    of->window = more;
    of->capacity = capacity;
  }
  if (!of->events && !of->count) {
    of->first = event->start;
    of->last = event->end;
  }
  if (event->start < of->first) of->first = event->start;
  if (event->end > of->last) of->last = event->end;
  if (of->count && compare(&of->window[of->count - 1], event) > 0) of->is_unsorted = 1;
  of->window[of->count++] = *event;
  return 1;
}

int coverage_flush(coverage *of, coverage_call *call, void *context) {
  int is_good = take(of, of->count, call, context);
  free(of->window);
  free(of->spans);
  of->window = NULL;
  of->spans = NULL;
  of->count = of->capacity = of->span_count = of->span_capacity = 0;
  return is_good;
}

void coverage_free(coverage *of) {
  free(of->window);
  free(of->spans);
}
