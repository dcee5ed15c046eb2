/* arrivals.h - when a process came to each collective, and until when it waited there: what tells who came last. What does not
 * fit in memory is spilled. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_ARRIVALS_H
#define DFTRACER_ARRIVALS_H

#include "command/trace/numbering.h"
#include "command/trace/recordpile.h"

#define ARRIVAL_TIME_MOST (((int64_t)1 << 62) - 2) /* the year 2116: beyond it is damage; differences do not overflow */

/* One call. A call that only begins waits where its request is completed; wait_end < wait_start: it is not known where. */
typedef struct arrival {
  int64_t start;
  int64_t wait_start, wait_end;
  int32_t root;      /* its rank; -1: there is none, or it is not known */
  uint32_t has_data; /* not 0: this rank contributes bytes */
} arrival;

/* What calls have in common that may meet. */
typedef struct arrival_key {
  uint32_t name;            /* in the reader's dictionary while traces are read; number of a text in a state */
  uint32_t is_mpi;          /* not annotated by hand: it has a communicator */
  uint32_t comm, comm_size; /* comm_size 0: it is not known */
} arrival_key;
#define COMM_OF_TWO_GROUPS UINT32_MAX /* the size of an inter-communicator: a rank waits for those of the other group */

typedef struct arrival_list {
  arrival_key key;
  uint64_t count;
  record_pile calls; /* arrivals in the order of starts */
} arrival_list;

typedef struct arrivals {
  arrival_list *lists;
  uint32_t count, capacity;
  numbering numbers; /* of lists, while traces are read */
  uint32_t last;     /* the list that was asked for last */
} arrivals;

/* The list of a key, which is added if there is none. NULL: no memory. Valid until another one is added. */
arrival_list *arrivals_list(arrivals *all, arrival_key key);
/* A new list. Its key must be different from all others. */
arrival_list *arrivals_add_list(arrivals *all, arrival_key key);
int arrival_list_add(arrival_list *list, const arrival *call); /* 0: no memory, or no room for the spill */
/* Adds all of `from`, which is empty then. 0: the same. */
int arrivals_move(arrivals *into, arrivals *from);
void arrivals_sort(arrivals *all); /* by key */
void arrivals_free(arrivals *all);

#endif
