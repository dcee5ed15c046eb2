/* collectives.h - how long ranks waited for each other, and who made them wait.
 *
 * Calls of MPI meet on their communicator (meetings.h), messages by their places (deliveries.h). Of calls that were annotated
 * by hand, the n-th call of a name on one rank meets the n-th call of that name on every other rank. Each rank waits from its
 * own start until the last one has started, but not longer than its call lasts; in a broadcast or scatter until the root has
 * started; in a reduction or gather only the root waits. If the job was killed, or still runs, some ranks may have made one
 * call more than others: that one is not compared.
 *
 * Times of different hosts are compared as far as what was recorded bounds their clocks (hostclocks.h).
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_COLLECTIVES_H
#define DFTRACER_COLLECTIVES_H

#include "delays.h"
#include "hostclocks.h"
#include "waiting.h"

/* The calls of one name. */
typedef struct collective {
  uint32_t name;               /* a text of the state */
  uint32_t kind;               /* mpi_kind; MPI_NONE: annotated by hand */
  uint8_t fence;               /* mpi_fence */
  uint32_t is_begun;           /* it only begins: a request is completed later */
  uint64_t processes;          /* that called it */
  uint64_t calls, least, most; /* all; of the process with the fewest, and of that with the most */
  uint64_t time_ns;            /* of all processes */
  uint64_t bytes;              /* of MPI */
  uint64_t on_files;           /* calls of MPI-IO that all ranks make */
  histogram sizes;             /* bytes of each call of MPI */
  const char *unknown;         /* why the following is not known; NULL: it is */
  uint64_t meetings;           /* of all ranks of a communicator */
  uint64_t waited_ns;          /* of all processes */
  int64_t last_rank;           /* that most often came last, alone; NO_NUMBER: there was none */
  uint64_t last_calls;         /* how often */
  delay_cause before;          /* what those who came last, alone, did meanwhile */
  uint64_t hosts;              /* whose clocks were compared */
} collective;

/* What one process did. */
typedef struct comm_rank {
  uint32_t process;
  int64_t rank;     /* NO_NUMBER: it has none */
  uint64_t comm_ns; /* time in which any of its threads communicated */
  uint64_t mpi_ns;  /* durations of calls of MPI */
  uint64_t calls;
  uint64_t last_count; /* collectives to which it came last, alone */
  wait_sums waits;
  delay_cause before; /* what it did while others waited for it */
  uint32_t top;       /* the call of MPI with most time; NO_CALL: there is none */
  uint64_t top_ns;
} comm_rank;

typedef struct collective_list {
  collective *calls; /* in the order of names, then of kinds */
  uint32_t count;
  comm_rank *ranks; /* in the order of ranks, then of processes */
  uint32_t rank_count;
  uint64_t comm_ns; /* of all processes, as the following */
  wait_sums waits;
  uint64_t received, matched, unknown_sources, unknown_waits; /* messages: see deliveries.h */
  host_clocks clocks;
} collective_list;

/* Of a sorted state. 0: no memory, or the spill cannot be read. */
int collective_list_init(collective_list *list, summary_state *state);
/* NULL: there are none. */
const collective *collective_list_call(const collective_list *list, uint32_t name, uint32_t kind);
const comm_rank *collective_list_rank(const collective_list *list, int64_t rank, uint32_t process);
void collective_list_free(collective_list *list);

#endif
