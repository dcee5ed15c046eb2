/* unitqueue.c - puts the events of one source into the order of its file.
 * SPDX-License-Identifier: MIT */
#include "unitqueue.h"

#include <stdlib.h>
#include <string.h>

#define WAITING_MAX 32u

/* Events of one batch of rows. A unit may have several batches. */
typedef struct batch {
  uint32_t source;
  uint64_t unit;
  int is_unit_end, is_source_end;
  const moment *events;
  uint32_t count;
} batch;

struct waiting_batch {
  waiting_batch *next;
  batch batch;
  moment events[];
};

void unit_queue_init(unit_queue *queue) {
  pthread_mutex_init(&queue->lock, NULL);
  pthread_cond_init(&queue->moved, NULL);
}

void unit_queue_free(unit_queue *queue) {
  while (queue->waiting) {
    waiting_batch *next = queue->waiting->next;
    free(queue->waiting);
    queue->waiting = next;
  }
  pthread_cond_destroy(&queue->moved);
  pthread_mutex_destroy(&queue->lock);
}

/* Keeps a copy, in the order of units. 0: no memory. */
static int wait_for_turn(unit_queue *queue, const batch *given) {
  waiting_batch *entry = malloc(sizeof *entry + given->count * sizeof *entry->events);
  waiting_batch **link = &queue->waiting;
  if (!entry) return 0;
  entry->batch = *given;
  entry->batch.events = entry->events;
  if (given->count) memcpy(entry->events, given->events, given->count * sizeof *entry->events);
  while (*link && (*link)->batch.unit <= given->unit) link = &(*link)->next;
  entry->next = *link;
  *link = entry;
  queue->waiting_count++;
  return 1;
}

/* The caller holds the lock and has set is_busy; the lock is released meanwhile. */
static void account_batch(unit_queue *queue, analysis *shared, tally *counts, const batch *given) {
  pthread_mutex_unlock(&queue->lock);
  account_events(shared, counts, given->source, given->events, given->count);
  if (given->is_source_end) account_source_end(shared, counts, given->source);
  pthread_mutex_lock(&queue->lock);
  if (given->is_unit_end) {
    queue->next_unit++;
    pthread_cond_broadcast(&queue->moved);
  }
}

void unit_queue_abandon(unit_queue *queue) {
  pthread_mutex_lock(&queue->lock);
  queue->is_abandoned = 1;
  pthread_cond_broadcast(&queue->moved);
  pthread_mutex_unlock(&queue->lock);
}

static int is_turn_of(const unit_queue *queue, uint64_t unit) {
  int has_earlier_batch = queue->waiting && queue->waiting->batch.unit == unit;
  return unit == queue->next_unit && !has_earlier_batch;
}

void unit_queue_add(unit_queue *queue, analysis *shared, tally *counts, const dft_rows *rows, const moment *events,
                    uint32_t count) {
  batch given = {rows->source, rows->unit, rows->is_unit_end != 0, rows->is_source_end != 0, events, count};
  pthread_mutex_lock(&queue->lock);
  while (queue->waiting_count >= WAITING_MAX && given.unit != queue->next_unit && !queue->is_abandoned) {
    pthread_cond_wait(&queue->moved, &queue->lock);
  }
  if (queue->is_abandoned) {
    pthread_mutex_unlock(&queue->lock);
    return;
  }
  if (queue->is_busy || !is_turn_of(queue, given.unit)) {
    counts->is_good &= wait_for_turn(queue, &given);
    if (queue->is_busy) { /* that worker will take it */
      pthread_mutex_unlock(&queue->lock);
      return;
    }
    queue->is_busy = 1;
  } else {
    queue->is_busy = 1;
    account_batch(queue, shared, counts, &given);
  }
  while (queue->waiting && queue->waiting->batch.unit == queue->next_unit) {
    waiting_batch *entry = queue->waiting;
    queue->waiting = entry->next;
    queue->waiting_count--;
    account_batch(queue, shared, counts, &entry->batch);
    free(entry);
  }
  queue->is_busy = 0;
  pthread_mutex_unlock(&queue->lock);
}
