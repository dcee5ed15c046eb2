/* unitqueue.h - puts the events of one source into the order of its file, however many threads read it.
 *
 * The worker that brings the unit whose turn it is accounts for it, and for the units that wait behind it. A worker that is
 * too far ahead blocks, so memory is bounded; the one whose turn it is never blocks. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_UNITQUEUE_H
#define DFTRACER_UNITQUEUE_H

#include "account.h"

typedef struct waiting_batch waiting_batch;

typedef struct unit_queue {
  pthread_mutex_t lock;
  pthread_cond_t moved; /* next_unit has changed */
  uint64_t next_unit;   /* whose turn it is */
  int is_busy;          /* a worker is accounting */
  int is_abandoned;     /* a unit may never come */
  waiting_batch *waiting;
  uint32_t waiting_count;
} unit_queue;

void unit_queue_init(unit_queue *queue);
void unit_queue_free(unit_queue *queue);
/* Accounts for the events of a batch of rows, now or when it is their turn. Copies the events if they have to wait. */
void unit_queue_add(unit_queue *queue, analysis *shared, tally *counts, const dft_rows *rows, const moment *events,
                    uint32_t count);
/* A worker gives up, perhaps in the middle of a unit: nobody waits for a turn any more. */
void unit_queue_abandon(unit_queue *queue);

#endif
