/* rankregions.h - regions over ranks: who spent the most time in a region, and how much that costs the others.
 *
 * What is compared are members. A rank is one: the sum of its processes. A rank that never enters a region counts as 0, because
 * ranks run the same program. A process without a rank is a member of its own, but only of the regions that it enters.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_RANKREGIONS_H
#define DFTRACER_RANKREGIONS_H

#include "command/summary/state/summarystate.h"

typedef struct region_member {
  int64_t rank;     /* NO_NUMBER: it is a process without a rank, */
  uint32_t process; /* this one; otherwise the first one of the rank */
  uint64_t total_ns;
} region_member;

typedef struct rank_region {
  uint32_t name, cat;       /* texts */
  uint64_t activity;        /* of the vocabulary */
  uint32_t ranks;           /* members that are compared: two or more */
  uint32_t entered;         /* those that entered it at all */
  uint64_t count, total_ns; /* of all members */
  uint64_t mean_ns;         /* rounded down */
  uint64_t deviation_ns;    /* standard deviation of the members, to the nearest */
  uint64_t lost_ns;         /* max - mean: what each member could save if the work was spread evenly */
  region_member min, max;   /* of equal ones, that of the lowest rank, then of the lowest pid */
} rank_region;

typedef struct rank_region_list {
  rank_region *regions; /* most time lost first */
  uint32_t count;
  uint32_t ranks; /* of the job */
} rank_region_list;

int rank_region_list_init(rank_region_list *list, const summary_state *state); /* of a sorted state; 0: no memory */
void rank_region_list_free(rank_region_list *list);

/* (max - mean) / max, from 0 to 1. */
static inline double rank_region_imbalance(const rank_region *region) {
  return region->max.total_ns ? (double)region->lost_ns / (double)region->max.total_ns : 0;
}

#endif
