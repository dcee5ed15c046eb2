/* chunk.c - the pool of chunks: one lock-free list of free chunks per size, cut from the spool's file.
 * SPDX-License-Identifier: MIT */
#include "chunk.h"

static uint32_t next_gen(uint32_t gen) {
  gen = (gen + 1) & 0xffffffu;
  return gen ? gen : 1;
}

/* ---- Free lists --------------------------------------------------------------------------------------------------- */

/* The tag makes every head a new value, so that a list that came back to the same chunk is noticed. */
static uint64_t tagged(uint64_t head, uint32_t page) {
  return ((head >> 32) + 1) << 32 | page;
}

static void push(dft__spool *spool, dft__chunk *chunk) {
  _Atomic uint64_t *list = &spool->header->free[DFT__GET(chunk->size_log)];
  uint64_t head = DFT__GET(*list);
  do DFT__SET(chunk->next, (uint32_t)head);
  while (!atomic_compare_exchange_weak_explicit(list, &head, tagged(head, dft__chunk_page(spool, chunk)),
                                                memory_order_release, memory_order_relaxed));
}

static dft__chunk *pop(dft__spool *spool, uint32_t size_log) {
  _Atomic uint64_t *list = &spool->header->free[size_log];
  uint64_t head = DFT__ACQUIRE(*list);
  dft__chunk *chunk;
  do {
    if (!(uint32_t)head) return NULL;
    chunk = dft__chunk_at(spool, (uint32_t)head);
  } while (!atomic_compare_exchange_weak_explicit(list, &head, tagged(head, DFT__GET(chunk->next)),
                                                  memory_order_acquire, memory_order_acquire));
  return chunk;
}

/* ---- Carving ------------------------------------------------------------------------------------------------------ */

/* Records leave a sixteenth of the limit to what is not a record, such as the states of threads that come when it is full. */
static uint64_t most_bytes(const dft__spool *spool, int beyond_limit) {
  uint64_t limit_bytes = spool->header->limit_bytes;
  return beyond_limit ? spool->map_bytes : DFT__HEADER_BYTES + limit_bytes - limit_bytes / 16;
}

/* The offset of fresh, zeroed bytes, the first `stored` of which have storage; 0 when there are none. */
static uint64_t carve(dft__spool *spool, uint64_t bytes, uint64_t stored, uint64_t most) {
  dft__header *header = spool->header;
  uint64_t offset = DFT__GET(header->top);
  do {
    if (offset + bytes > most || offset + stored > DFT__ACQUIRE(header->file_bytes)) return 0;
  } while (!atomic_compare_exchange_weak(&header->top, &offset, offset + bytes));
  return offset;
}

/* Makes the file longer than the chunks so far, by `stored`; zero when that is not possible now. */
static int store_next(dft__spool *spool, uint64_t bytes, uint64_t stored, int beyond_limit) {
  uint64_t top = DFT__GET(spool->header->top);
  return top + bytes <= most_bytes(spool, beyond_limit) && dft__spool_grow(spool, top + stored, beyond_limit);
}

static dft__chunk *make(dft__spool *spool, uint64_t offset, uint32_t size_log) {
  dft__chunk *chunk = (dft__chunk *)(spool->base + offset);
  DFT__SET(chunk->size_log, size_log);
  DFT__RELEASE(chunk->magic, DFT__CHUNK_MAGIC);
  return chunk;
}

/* Another thread was faster with its block: the chunks of this one are free for all. */
static void cut_rest(dft__spool *spool, uint64_t offset, uint64_t end, uint32_t size_log) {
  for (; offset < end && dft__spool_grow(spool, offset + (UINT64_C(1) << size_log), 1);
       offset += UINT64_C(1) << size_log)
    push(spool, make(spool, offset, size_log));
}

/* Small chunks come from blocks of 64 KiB, one after the other, so that a page is touched only when it is needed. They are made
 * before they are taken, by every thread that tries to take them: a walk finds each of them, or the end of the block. */
static dft__chunk *carve_small(dft__spool *spool, uint32_t size_log, int beyond_limit) {
  const uint64_t bytes = UINT64_C(1) << size_log;
  const uint64_t block = UINT64_C(1) << DFT__BLOCK_LOG;
  const uint64_t most = most_bytes(spool, beyond_limit);
  _Atomic uint64_t *left = &spool->header->block[size_log];
  uint64_t now = DFT__GET(*left), offset;
  for (;;) {
    if (now & 0xffff) {
      dft__chunk *chunk;
      if ((now >> 16) + bytes > most || !dft__spool_grow(spool, (now >> 16) + bytes, beyond_limit)) return NULL;
      chunk = make(spool, now >> 16, size_log);
      if (atomic_compare_exchange_weak(left, &now, now + (bytes << 16) - bytes)) return chunk;
    } else if ((offset = carve(spool, block, bytes, most)) != 0) {
      dft__chunk *chunk = make(spool, offset, size_log);
      if (!atomic_compare_exchange_strong(left, &now, (offset + bytes) << 16 | (block - bytes)))
        cut_rest(spool, offset + bytes, offset + block, size_log);
      return chunk;
    } else {
      /* This may take long, and hundreds may wait for it: one of them cuts the next block, not each its own. */
      if (!store_next(spool, block, bytes, beyond_limit)) return NULL;
      now = DFT__GET(*left);
    }
  }
}

static dft__chunk *carve_chunk(dft__spool *spool, uint32_t size_log, int beyond_limit) {
  const uint64_t bytes = UINT64_C(1) << size_log;
  uint64_t offset;
  if (size_log < DFT__BLOCK_LOG) return carve_small(spool, size_log, beyond_limit);
  while ((offset = carve(spool, bytes, bytes, most_bytes(spool, beyond_limit))) == 0) {
    if (!store_next(spool, bytes, bytes, beyond_limit)) return NULL;
  }
  return make(spool, offset, size_log);
}

uint32_t dft__chunk_usual_log(const dft__spool *spool) {
  uint64_t threads = DFT__GET(spool->inside) & ~DFT__SPOOL_OPEN;
  uint64_t most = spool->header->limit_bytes / 8;
  if (threads << DFT__BLOCK_LOG <= most) return DFT__BLOCK_LOG;
  return threads << DFT__CHUNK_LOG_MIDDLE <= most ? DFT__CHUNK_LOG_MIDDLE : DFT__CHUNK_LOG_MIN;
}

/* ---- Taking and giving back ------------------------------------------------------------------------------------------ */

dft__chunk *dft__chunk_take(dft__spool *spool, uint32_t size_log, uint32_t use, int beyond_limit) {
  dft__chunk *chunk = pop(spool, size_log);
  if (!chunk) chunk = carve_chunk(spool, size_log, beyond_limit);
  if (!chunk) return NULL;
  DFT__SET(chunk->use, use);
  DFT__SET(chunk->consumed, 1);
  DFT__SET(chunk->claim, 0);
  DFT__SET(chunk->next, 0);
  DFT__RELEASE(chunk->status, dft__status(next_gen(dft__status_gen(DFT__GET(chunk->status))), DFT__OPEN, 0));
  return chunk;
}

/* The number comes before the status: who has seen a later number of the same thread sees this chunk FULL. */
void dft__chunk_finish(dft__spool *spool, dft__chunk *chunk, uint32_t end) {
  DFT__SET(chunk->order, atomic_fetch_add(&spool->header->last_order, 1) + 1);
  DFT__RELEASE(chunk->status, dft__status(dft__status_gen(DFT__GET(chunk->status)), DFT__FULL, end));
}

void dft__chunk_give(dft__spool *spool, dft__chunk *chunk) {
  DFT__RELEASE(chunk->status, dft__status(dft__status_gen(DFT__GET(chunk->status)), DFT__FREE, 0));
  push(spool, chunk);
}

/* Where no chunk is, none is in the rest of the block. Between carve and make of a chunk of several blocks their insides may be
 * looked at, too; they hold zeros then. */
dft__chunk *dft__chunk_walk(const dft__spool *spool, uint64_t *offset) {
  const uint64_t block = UINT64_C(1) << DFT__BLOCK_LOG;
  uint64_t top = DFT__ACQUIRE(spool->header->top);
  uint64_t end = DFT__ACQUIRE(spool->header->file_bytes);
  if (top < end) end = top;
  if (end > spool->map_bytes) end = spool->map_bytes;
  if (*offset < DFT__HEADER_BYTES) *offset = DFT__HEADER_BYTES;
  while (*offset + (1u << DFT__CHUNK_LOG_MIN) <= end) {
    dft__chunk *chunk = (dft__chunk *)(spool->base + *offset);
    uint32_t log = DFT__ACQUIRE(chunk->magic) == DFT__CHUNK_MAGIC ? DFT__GET(chunk->size_log) : 0;
    if (log >= DFT__CHUNK_LOG_MIN && log <= DFT__CHUNK_LOG_MAX && *offset + (UINT64_C(1) << log) <= end) {
      *offset += UINT64_C(1) << log;
      return chunk;
    }
    *offset += block - (*offset - DFT__HEADER_BYTES) % block;
  }
  return NULL;
}
