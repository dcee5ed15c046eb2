/* regionhulls.h - how often and when a process was in each kind of region: where its main loop is, if no event tells.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_REGIONHULLS_H
#define DFTRACER_REGIONHULLS_H

#include <stdint.h>

/* Only work tells where a loop is, unless there is none: communication and I/O also happen before and after it. */
enum hull_kind { HULL_WORK, HULL_IO, HULL_COMM, HULL_STARTUP };

typedef struct region_hull {
  uint32_t class_number; /* 0: the slot is free */
  uint32_t kind;         /* hull_kind */
  uint32_t place;        /* of its first event to end, among those of others: what is inside ends first */
  uint64_t count, total_ns;
  int64_t first, last;
} region_hull;

/* A hash table by class. Zero: empty. */
typedef struct region_hulls {
  region_hull *slots;
  uint32_t slot_count; /* a power of two */
  uint32_t count;
} region_hulls;

int region_hulls_add(region_hulls *hulls, uint32_t class_number, enum hull_kind kind, int64_t start,
                     int64_t end); /* 0: no memory */
/* The time of the main loop: that of the regions that occur at least three times. Nothing can be added then. 0: there are none. */
int region_hulls_loop(region_hulls *hulls, int64_t *first, int64_t *last, int64_t *turn);
/* The class with most time of those that only occur in this time, without communication: that waits for what others do. Of
 * some within each other, which take about the same time, the inner one. Returns its time; 0: there is none. */
uint64_t region_hulls_most(const region_hulls *hulls, int64_t first, int64_t last, uint32_t *class_number);
void region_hulls_free(region_hulls *hulls);

#endif
