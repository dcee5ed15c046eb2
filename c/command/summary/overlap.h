/* overlap.h - moments in time that belong to one kind of work, as disjoint spans; and how much two kinds share.
 * Bounded: beyond OVERLAP_SPANS the smallest gaps are closed, and `closed_ns` says by how much the spans grew.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_OVERLAP_H
#define DFTRACER_OVERLAP_H

#include <stdint.h>

#define OVERLAP_SPANS 65536u

typedef struct work_span {
  int64_t start, end;
} work_span;

typedef struct work {
  work_span *spans;
  uint32_t count, capacity;
  uint32_t is_tidy; /* sorted and disjoint */
  uint64_t closed_ns;
} work;

int work_add(work *of, int64_t start, int64_t end); /* 0: no memory */
void work_tidy(work *of);
uint64_t work_time(work *of);               /* of all spans */
uint64_t work_shared(work *one, work *two); /* of what lies in both */
void work_free(work *of);

#endif
