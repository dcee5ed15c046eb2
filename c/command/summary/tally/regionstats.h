/* regionstats.h - how much time a process spent in each region: in everything that is no call of the system or of a stream.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_REGIONSTATS_H
#define DFTRACER_REGIONSTATS_H

#include <stdint.h>

typedef struct region_total {
  uint32_t name, cat; /* while traces are read: the number of the class, and 0; in a state: texts */
  uint64_t activity;  /* an activity of the vocabulary, in a state */
  uint64_t count, total_ns, self_ns;
} region_total;

typedef struct region_stats {
  region_total *list;
  uint32_t count, capacity;
  uint32_t *slots; /* while traces are read: place in the list, + 1, by number of the class */
  uint32_t slot_count;
} region_stats;

/* Counts an event of a class. 0: no memory. */
int region_stats_add(region_stats *regions, uint32_t class_number, uint64_t time_ns, uint64_t self_ns);
/* A new entry at the end. NULL: no memory. Valid until the next one. */
region_total *region_stats_append(region_stats *regions, uint32_t name, uint32_t cat);
void region_stats_settle(region_stats *regions); /* no event will be counted */
void region_stats_sort(region_stats *regions);   /* by name and category */
void region_stats_free(region_stats *regions);

#endif
