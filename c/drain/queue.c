/* queue.c - the chunks that no batch has claimed yet, in the order in which they became full.
 * SPDX-License-Identifier: MIT */
#include "queue.h"

int dft__queue_is_waiting(const dft__chunk *chunk, uint64_t status, int with_open, uint32_t *end) {
  uint32_t cells = dft__cells_of(DFT__GET(chunk->size_log));
  uint32_t consumed = DFT__GET(chunk->consumed);
  if (DFT__GET(chunk->use) != DFT__USE_RECORDS || consumed < 1) return 0;
  *end = cells;
  if (dft__status_state(status) == DFT__OPEN) return with_open && consumed < cells;
  if (dft__status_state(status) != DFT__FULL) return 0;
  if (dft__status_end(status) < cells) *end = dft__status_end(status);
  return consumed <= *end;
}

/* Keeps the older half. */
static void cut(dft__queue *queue) {
  dft__order_sort(queue->list, queue->count);
  queue->count = DFT__QUEUE_CHUNKS;
  queue->has_more = 1;
}

static void add(dft__queue *queue, dft__ordered chunk) {
  if (queue->has_more && chunk.key > queue->list[DFT__QUEUE_CHUNKS - 1].key) return;
  if (queue->count == 2 * DFT__QUEUE_CHUNKS) cut(queue);
  queue->list[queue->count++] = chunk;
}

/* Of the chunks that become full during the walk, it may see one and not the one that the same thread filled before. So it takes
 * only those that had their number when it began: what their threads filled before them was FULL by then.
 * tests/c/test_order_model.py tries every order of these steps. */
void dft__queue_fill(dft__queue *queue, const dft__spool *spool, int with_open) {
  uint64_t last = DFT__ACQUIRE(spool->header->last_order);
  uint64_t offset = 0;
  dft__chunk *chunk;
  dft__queue_forget(queue);
  while ((chunk = dft__chunk_walk(spool, &offset)) != NULL) {
    uint64_t status = DFT__ACQUIRE(chunk->status);
    uint64_t order = dft__status_state(status) == DFT__FULL ? DFT__GET(chunk->order) : UINT64_MAX;
    uint32_t end;
    if (DFT__GET(chunk->claim) || !dft__queue_is_waiting(chunk, status, with_open, &end)) continue;
    if (order > last && !with_open) continue;
    add(queue, (dft__ordered){order, dft__chunk_page(spool, chunk), DFT__GET(chunk->thread)});
  }
  if (queue->count > DFT__QUEUE_CHUNKS) cut(queue);
  else dft__order_sort(queue->list, queue->count);
}

const dft__ordered *dft__queue_next(dft__queue *queue) {
  return queue->next < queue->count ? &queue->list[queue->next++] : NULL;
}

void dft__queue_keep(dft__queue *queue) {
  queue->list[queue->kept++] = queue->list[queue->next - 1];
}

void dft__queue_rewind(dft__queue *queue) {
  queue->next -= queue->kept;
  memmove(&queue->list[queue->next], queue->list, queue->kept * sizeof queue->list[0]);
  queue->kept = 0;
}
