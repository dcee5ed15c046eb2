/* coverage.h - the self time of events on one thread.
 *
 * The self time is the duration minus the time of the children. The exact rule, which also covers overlaps: events are sorted
 * by their end (for equal ends: the later start first, then the deeper level, then file order). The self time of an event is
 * the part of its time that no earlier event of this order covers. So every moment belongs to exactly one event, and the self
 * times plus the time outside of all events add up to the thread's time.
 *
 * Traces are nearly in this order; a window sorts the rest. Memory is bounded in two ways. The window holds `window` events;
 * an event that comes later than that is counted in `late` and handled as well as possible. Covered time is kept as disjoint
 * spans. Beyond SPANS_MAX, spans with the same parent are joined, which changes nothing for nested events. If that is not
 * enough, neighbours are joined and counted in `merged`. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_COVERAGE_H
#define DFTRACER_COVERAGE_H

#include <stdint.h>

#define SPANS_MAX 8192u

/* What the summary needs to know about an event. */
typedef struct moment {
  int64_t start, end; /* ns */
  int64_t parent;
  int64_t offset;        /* of a transfer or a seek; -1: not given */
  int64_t bytes;         /* transferred; -1: not a transfer, or it failed */
  uint32_t class_number; /* what its name and category mean to the summary */
  uint32_t group;
  uint32_t file;
  uint32_t second_file; /* the file that a copy writes */
  uint32_t thread;
  uint16_t level;
  uint8_t whence; /* where the offset of a seek counts from: SEEK_SET, SEEK_CUR, or another */
} moment;

typedef struct span {
  int64_t start, end;
  int64_t covered; /* less than end - start when several spans were joined */
  int64_t parent;
} span;

typedef struct coverage {
  moment *window;
  uint32_t count, capacity;
  uint32_t is_unsorted;
  int64_t last_end; /* of the events handled so far */
  span *spans;
  uint32_t span_count, span_capacity;
  int64_t first, last; /* the thread's time; valid after the first event */
  int64_t covered;
  uint64_t events, late, merged;
  uint64_t crossed;   /* events that overlap an earlier one without containing it; exact while `compacted` is 0 */
  uint64_t compacted; /* how often spans were joined */
} coverage;

/* Called for every event in the order above. */
typedef void coverage_call(void *context, const moment *event, int64_t self);

/* Adds an event. When the window is full, half of it is handled. 0: no memory. */
int coverage_add(coverage *thread, const moment *event, uint32_t window, coverage_call *call, void *context);
/* Handles all remaining events. */
int coverage_flush(coverage *thread, coverage_call *call, void *context);
void coverage_free(coverage *thread);

#endif
