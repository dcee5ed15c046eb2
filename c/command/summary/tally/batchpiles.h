/* batchpiles.h - what a worker did for a batch belongs to the step of the fetch that got the batch.
 *
 * Workers and trainers are different processes, so both sides are kept, and spilled, until all traces are read. The numbers of
 * batches may begin again in each epoch: the fetch is the first one that ended when the batch was complete.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_BATCHPILES_H
#define DFTRACER_BATCHPILES_H

#include "stepfinder.h"

/* Of one process: a trainer has fetches, a worker has work. */
typedef struct batch_piles {
  record_pile fetches, work;
} batch_piles;

/* A fetch, or an event of a worker. `worker`, `batch`, and what the other side is found by: */
typedef struct batch_part {
  int64_t worker, batch;
  int64_t end;         /* of the fetch, or of the batch */
  int64_t epoch, step; /* of a fetch */
  uint64_t time_ns, self_ns;
} batch_part;

/* 0: no memory, or no room for the spill. */
int batch_piles_add_fetch(batch_piles *piles, const event_place *place);
int batch_piles_add_work(batch_piles *piles, const event_place *place);

/* Calls for each event of the worker, with the epoch and step of the fetch; NO_NUMBER: it is not known. `trainer` may be NULL.
 * 0: as before. */
typedef void batch_call(void *context, const batch_part *part);
int batch_piles_join(batch_piles *worker, batch_piles *trainer, batch_call *call, void *context);
void batch_piles_free(batch_piles *piles);

#endif
