/* arrivals.h - when a process began and ended each call of communication, by name: what tells who came last at a collective.
 * What does not fit in memory is spilled. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_ARRIVALS_H
#define DFTRACER_ARRIVALS_H

#include "command/trace/recordpile.h"
#include "spanset.h"

/* The calls of one name. */
typedef struct arrival_list {
  uint32_t name; /* number of a class while traces are read; of a text in a state */
  uint64_t count, time_ns;
  record_pile calls; /* time_span, in the order of starts, then of ends */
} arrival_list;

typedef struct arrivals {
  arrival_list *lists;
  uint32_t count, capacity;
} arrivals;

/* The list of a name, which is added if there is none. NULL: no memory. Valid until another one is added. */
arrival_list *arrivals_list(arrivals *all, uint32_t name);
int arrival_list_add(arrival_list *list, int64_t start, int64_t end); /* 0: no memory, or no room for the spill */
void arrivals_sort(arrivals *all);                                    /* by name */
void arrivals_free(arrivals *all);

#endif
