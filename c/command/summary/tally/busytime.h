/* busytime.h - the time in which one kind of work was going on, as disjoint spans, and how far two kinds overlap.
 *
 * Bounded: beyond BUSY_SPANS_MAX the smallest gaps between spans are closed, and `closed_ns` says by how much the spans grew.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_BUSYTIME_H
#define DFTRACER_BUSYTIME_H

#include <stdint.h>

#define BUSY_SPANS_MAX 65536u

typedef struct busy_span {
  int64_t start, end;
} busy_span;

typedef struct busy_time {
  busy_span *spans;
  uint32_t count, capacity;
  uint32_t is_tidy; /* sorted and disjoint */
  uint64_t closed_ns;
} busy_time;

int busy_time_add(busy_time *busy, int64_t start, int64_t end); /* 0: no memory */
/* Adds all of `from`, which is empty afterwards. 0: no memory. */
int busy_time_move(busy_time *into, busy_time *from);
uint64_t busy_time_total(busy_time *busy);
uint64_t busy_time_overlap(busy_time *one, busy_time *two);
void busy_time_free(busy_time *busy);

#endif
