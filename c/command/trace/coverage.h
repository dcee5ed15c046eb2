/* coverage.h - the self time of events on one thread.
 *
 * The self time is the duration minus the time of the children. The exact rule, which also covers overlaps: events are sorted
 * as moment.h says. The self time of an event is the part of its time that no earlier event of this order covers. So every
 * moment belongs to exactly one event, and the self times plus the time outside of all events add up to the thread's time.
 *
 * Traces are nearly in this order; a window sorts the rest. An event that comes later than the window allows makes the thread
 * disordered: then nothing is reported any more, and the caller has to sort the events. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_COVERAGE_H
#define DFTRACER_COVERAGE_H

#include "moment.h"
#include "spanstack.h"

typedef struct coverage {
  moment *window;
  uint32_t count, capacity;
  uint32_t is_unsorted;
  int is_disordered;
  moment latest; /* the event reported last */
  uint64_t events;
  span_stack covered;  /* disjoint, in order */
  int64_t first, last; /* the thread's time; valid after the first event */
  uint64_t crossed;    /* events that overlap an earlier one without containing it */
} coverage;

/* Called for every event in the order above. */
typedef void coverage_call(void *context, const moment *event, int64_t self);

/* These return 0 when there is no memory, or no room for the spill. */

/* Adds an event. When the window is full, half of it is handled. */
int coverage_add(coverage *thread, const moment *event, uint32_t window, coverage_call *call, void *context);
/* Adds an event that is not before any other in the order above. */
int coverage_add_sorted(coverage *thread, const moment *event, coverage_call *call, void *context);
/* Handles all remaining events, and frees what only they needed. */
int coverage_flush(coverage *thread, coverage_call *call, void *context);
void coverage_free(coverage *thread);

#endif
