/* worker.h - one thread that reads rows and counts them. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_WORKER_H
#define DFTRACER_WORKER_H

#include "command/cli/progress.h"
#include "unitqueue.h"

/* The number that the analysis gave to a pair. */
typedef struct cached_number {
  uint64_t a, b;
  uint32_t number; /* 0: the slot is free */
} cached_number;

#define CACHED_NUMBERS 1024u
#define NO_SOURCE UINT32_MAX

typedef struct summary_worker {
  analysis *shared;
  unit_queue *queues;            /* by source */
  progress *progress;            /* may be NULL */
  _Atomic uint32_t *next_source; /* that resort_run looks at */
  uint32_t source;               /* whose rows are being counted; NO_SOURCE: none */
  uint32_t host;                 /* that was seen last */
  int64_t from, to;              /* the first and the last moment of it that was asked for */
  trace_life life;
  tally counts; /* of the source */
  dft_cursor *cursor;
  cached_number classes[CACHED_NUMBERS], groups[CACHED_NUMBERS], threads[CACHED_NUMBERS];
  moment *events; /* of the rows that are being read */
  uint32_t event_capacity;
} summary_worker;

/* Makes moments of rows in worker->events, and counts what does not depend on their order. Returns their number. */
uint32_t worker_read(summary_worker *worker, const dft_rows *rows);
/* Reads units until there are no more, or no memory: then counts.is_good is 0. As a thread's main function; takes a worker
 * and returns NULL. */
void *worker_run(void *context);
/* Begins to count a source; what was counted of another one goes to its part (traceparts.h). NO_SOURCE: of none. */
void worker_turn_to(summary_worker *worker, uint32_t source);
void worker_free(summary_worker *worker);

#endif
