/* regionhulls.h - how often and when a process was in each kind of region: where its main loop is, if no event tells.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_REGIONHULLS_H
#define DFTRACER_REGIONHULLS_H

#include <stdint.h>

typedef struct region_hull {
  uint32_t class_number; /* 0: the slot is free */
  uint32_t is_work;      /* it is neither communication nor I/O, which also happen before and after a loop */
  uint64_t count, total_ns;
  int64_t first, last;
} region_hull;

/* A hash table by class. Zero: empty. */
typedef struct region_hulls {
  region_hull *slots;
  uint32_t slot_count; /* a power of two */
  uint32_t count;
} region_hulls;

int region_hulls_add(region_hulls *hulls, uint32_t class_number, int is_work, int64_t start,
                     int64_t end); /* 0: no memory */
/* The time of the main loop: that of the regions that occur at least three times. 0: there are none. */
int region_hulls_loop(const region_hulls *hulls, int64_t *first, int64_t *last, int64_t *turn);
void region_hulls_free(region_hulls *hulls);

#endif
