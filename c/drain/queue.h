/* queue.h - the chunks that no batch has claimed yet, in the order in which they became full.
 *
 * A thread fills one chunk after the other. Batches claim chunks in this order, are consumed wholly, and are written one after the
 * other. So the events of a thread stay in their order.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_QUEUE_H
#define DFT_QUEUE_H

#include "order.h"
#include "spool/chunk.h"

#define DFT__QUEUE_CHUNKS 4096u

/* What the last walk over the spool found and no batch has claimed since: when there is much to do, one walk serves many batches.
 * One thread uses it at a time. */
typedef struct dft__queue {
  uint32_t next, count;
  uint32_t kept;     /* of those before `next`, these at the start of the list stay */
  uint32_t has_more; /* the walk found more than there is room for */
  dft__ordered list[2 * DFT__QUEUE_CHUNKS];
} dft__queue;

/* Whether a chunk with this status waits for a batch, and up to which cell. A FULL one does even if nothing is left in it, to be
 * given back. An OPEN one does not: it stays with its thread, and would be claimed again and again. */
int dft__queue_is_waiting(const dft__chunk *chunk, uint64_t status, int with_open, uint32_t *end);

/* Walks over the spool. with_open: what threads have not filled comes last; for those who drain alone. */
void dft__queue_fill(dft__queue *queue, const dft__spool *spool, int with_open);

/* The next chunk; NULL at the end. It leaves the queue, unless it is kept for later. After dft__queue_rewind those come first. */
const dft__ordered *dft__queue_next(dft__queue *queue);
void dft__queue_keep(dft__queue *queue);
void dft__queue_rewind(dft__queue *queue);

/* Claims were given back, so older chunks wait than those that it holds: the next batch walks. */
static inline void dft__queue_forget(dft__queue *queue) {
  queue->next = queue->count = queue->kept = queue->has_more = 0;
}

static inline int dft__queue_is_empty(const dft__queue *queue) {
  return queue->next == queue->count && !queue->has_more;
}

#endif
