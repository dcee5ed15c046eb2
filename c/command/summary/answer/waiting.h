/* waiting.h - the time in which processes waited for others, and who caused it.
 *
 * Waits of a process may overlap: one MPI_Waitall waits for several others, and an annotated call has an MPI call in it. Each
 * moment counts once, for the one that came first of those that were waited for then.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_WAITING_H
#define DFTRACER_WAITING_H

#include "command/trace/recordpile.h"

#define NO_CALL UINT32_MAX /* of a message */

/* A process waited for another one. */
typedef struct wait_span {
  int64_t start, until;
  uint32_t call;      /* the number of its name; NO_CALL: it waited for a message */
  uint32_t cause;     /* number of the process that came last; 0: several did, or the clocks do not tell */
  uint32_t is_unsure; /* it is shorter than the clocks are sure of */
} wait_span;

/* What a process waited, and what it made others wait. */
typedef struct wait_sums {
  uint64_t waited_ns, caused_ns;           /* of these the following are a part: */
  uint64_t late_ns, late_caused_ns;        /* for messages that were sent late */
  uint64_t loop_waited_ns, loop_caused_ns; /* while the one who waited was in its loop, */
  uint64_t loop_late_ns;                   /* for such messages; */
  uint64_t end_caused_ns;                  /* after its loop */
  uint64_t unsure_ns;                      /* besides: what is shorter than the clocks are sure of, */
  uint64_t in_sends_ns;                    /* and in sends until the receive began, if they lasted longer */
} wait_sums;

typedef struct waiting {
  record_pile *piles; /* wait_span, by number of a process */
  uint32_t processes;
} waiting;

int waiting_init(waiting *all, uint32_t processes); /* 0: no memory */
void waiting_free(waiting *all);
/* 0: no memory, or no room for the spill. */
int waiting_add(waiting *all, uint32_t process, const wait_span *span);
/* When the loop of a process was. */
typedef struct loop_time {
  int64_t first, last;
} loop_time;

/* Sums by number of a process, and what was waited in each call by its number. `loops`: by process. 0: the same. */
int waiting_sum(waiting *all, const loop_time *loops, wait_sums *of_processes, uint64_t *of_calls, uint32_t call_count);

#endif
