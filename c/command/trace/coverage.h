/* coverage.h - the self time of events on one thread.
 *
 * Events are taken in the order of their ends (of equal ends, the one that started later first; then the deeper level; then
 * as they came). The self time of an event is the part of its time that no event before it in this order covers. For
 * events that nest this is the usual "duration without the children"; in any case every moment that some event covers
 * belongs to exactly one, so self times and the time outside of all events add up to the thread's time.
 *
 * Traces hold events nearly in that order: a window puts right what is not. Memory is bounded twice. A window holds
 * `window` events; one that comes later than that is counted in `late` and accounted for as well as possible. What is
 * covered is kept as disjoint spans; beyond SPANS_MAX of them, spans under one parent become one, which changes nothing
 * for events that nest, and if that does not help neighbours become one: counted in `merged`. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_COVERAGE_H
#define DFTRACER_COVERAGE_H

#include <stdint.h>

#define SPANS_MAX 8192u

/* What the summary needs of an event. */
typedef struct moment {
  int64_t start, end; /* ns */
  int64_t parent;
  int64_t offset; /* of a transfer; -1: not given */
  int64_t bytes;  /* that it moved; -1: none of this kind, or it failed */
  uint32_t class_number; /* what its name and category mean to the summary */
  uint32_t group;
  uint32_t file;
  uint32_t second_file; /* that a copy writes */
  uint32_t thread;
  uint16_t level;
} moment;

typedef struct span {
  int64_t start, end;
  int64_t covered; /* less than end - start when several became one */
  int64_t parent;
} span;

typedef struct coverage {
  moment *window;
  uint32_t count, capacity;
  uint32_t is_unsorted;
  int64_t last_end; /* of what was accounted for */
  span *spans;
  uint32_t span_count, span_capacity;
  int64_t first, last; /* the thread's time; valid when there was an event */
  int64_t covered;
  uint64_t events, late, merged;
  uint64_t crossed;   /* events that overlap an earlier one without containing it; exact while `compacted` is 0 */
  uint64_t compacted; /* how often spans became one */
} coverage;

/* Called for every event in the order above. */
typedef void coverage_call(void *context, const moment *of, int64_t self);

/* Adds an event; when the window is full, half of it is accounted for. 0: no memory. */
int coverage_add(coverage *of, const moment *event, uint32_t window, coverage_call *call, void *context);
/* Accounts for all that is left. */
int coverage_flush(coverage *of, coverage_call *call, void *context);
void coverage_free(coverage *of);

#endif
