/* commcounts.h - how a process communicated: annotated calls, and those of MPI.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_COMMCOUNTS_H
#define DFTRACER_COMMCOUNTS_H

#include "histogram.h"
#include "messages.h"
#include "mpicall.h"
#include "spanset.h"

/* The calls of one name. */
typedef struct comm_call {
  uint32_t name; /* in the reader's dictionary while traces are read; number of a text in a state */
  uint32_t kind; /* mpi_kind; MPI_NONE: annotated by hand, whatever the category */
  uint32_t is_begun;
  uint64_t calls, time_ns;
  uint64_t bytes;      /* of those whose bytes are known */
  uint64_t collective; /* calls on files that all ranks make */
  histogram sizes;     /* bytes of each call */
} comm_call;

typedef struct comm_counts {
  comm_call *calls;
  uint32_t count, capacity;
  numbering numbers; /* of name and kind, beyond the first few; until they are renamed or sorted */
  arrivals meetings;
  messages mail;
  spanset busy; /* the time in which any thread communicated; without MPI-IO */
} comm_counts;

/* These return 0 when there is no memory, or no room for the spill. */

/* The calls of a name, which are added if there are none. Not once they are renamed or sorted. NULL: no memory. Valid until others
 * are added. */
comm_call *comm_counts_call(comm_counts *counts, uint32_t name, uint32_t kind);
/* Adds all of `from`, which is empty then. */
int comm_counts_move(comm_counts *into, comm_counts *from);
/* Everything was read. */
int comm_counts_settle(comm_counts *counts);
/* Names get other numbers. */
void comm_counts_rename(comm_counts *counts, const uint32_t *numbers);
int comm_counts_sort(comm_counts *counts); /* by name */
void comm_counts_free(comm_counts *counts);

#endif
