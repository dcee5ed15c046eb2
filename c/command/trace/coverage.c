/* coverage.c - the self time of events on one thread.
 * SPDX-License-Identifier: MIT */
#include "coverage.h"

#include <stdlib.h>
#include <string.h>

/* Takes the time that is covered already off *self, and marks the event's time as covered. No span ends behind the event,
 * because of the order. */
static int cover(coverage *thread, const moment *event, int64_t *self) {
  const stacked_span *top;
  int64_t start = event->start;
  *self = event->end - event->start;
  for (;;) {
    if (!span_stack_top(&thread->covered, &top)) return 0;
    if (!top || top->end <= event->start) break;
    if (top->start < event->start) {
      thread->crossed++;
      start = top->start;
      *self -= top->end - event->start;
    } else {
      *self -= top->end - top->start;
    }
    span_stack_pop(&thread->covered);
  }
  return event->end == start || span_stack_push(&thread->covered, start, event->end);
}

static int report(coverage *thread, const moment *event, coverage_call *call, void *context) {
  int64_t self;
  if (!cover(thread, event, &self)) return 0;
  thread->latest = *event;
  thread->events++;
  call(context, event, self);
  return 1;
}

static void extend(coverage *thread, const moment *event) {
  if (!thread->events && !thread->count) {
    thread->first = event->start;
    thread->last = event->end;
  }
  if (event->start < thread->first) thread->first = event->start;
  if (event->end > thread->last) thread->last = event->end;
}

int coverage_add_sorted(coverage *thread, const moment *event, coverage_call *call, void *context) {
  extend(thread, event);
  return report(thread, event, call, context);
}

/* ---- Window --------------------------------------------------------------------------------------------------------- */

static int take(coverage *thread, uint32_t count, coverage_call *call, void *context) {
  if (!count || thread->is_disordered) return 1;
  if (thread->is_unsorted && !moments_sort(thread->window, thread->count)) return 0;
  thread->is_unsorted = 0;
  if (thread->events && moment_compare(&thread->latest, &thread->window[0]) > 0) {
    thread->is_disordered = 1;
    return 1;
  }
  for (uint32_t i = 0; i < count; i++) {
    if (!report(thread, &thread->window[i], call, context)) return 0;
  }
  memmove(thread->window, thread->window + count, (thread->count - count) * sizeof *thread->window);
  thread->count -= count;
  return 1;
}

int coverage_add(coverage *thread, const moment *event, uint32_t window, coverage_call *call, void *context) {
  if (thread->count >= window && !take(thread, thread->count - window / 2, call, context)) return 0;
  if (thread->is_disordered) return 1;
  if (thread->count == thread->capacity) {
    uint32_t capacity = thread->capacity ? thread->capacity * 2 : 64;
    moment *more = realloc(thread->window, capacity * sizeof *more);
    if (!more) return 0;
    thread->window = more;
    thread->capacity = capacity;
  }
  extend(thread, event);
  if (thread->count && moment_compare(&thread->window[thread->count - 1], event) > 0) thread->is_unsorted = 1;
  thread->window[thread->count++] = *event;
  return 1;
}

int coverage_flush(coverage *thread, coverage_call *call, void *context) {
  int is_good = take(thread, thread->count, call, context);
  coverage_free(thread);
  return is_good;
}

void coverage_free(coverage *thread) {
  free(thread->window);
  span_stack_free(&thread->covered);
  thread->window = NULL;
  thread->count = thread->capacity = 0;
}
