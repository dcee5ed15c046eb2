/* chunk.h - the pool of chunks: memory of a spool for records, names and threads.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_CHUNK_H
#define DFT_CHUNK_H

#include "spool.h"

static inline dft__chunk *dft__chunk_at(const dft__spool *spool, uint32_t page) {
  return (dft__chunk *)(spool->base + ((uint64_t)page << DFT__PAGE_LOG));
}
static inline uint32_t dft__chunk_page(const dft__spool *spool, const dft__chunk *chunk) {
  return (uint32_t)((uint64_t)((const char *)chunk - spool->base) >> DFT__PAGE_LOG);
}

/* The size of a thread's chunks once it has recorded a little: 64 KiB, and less while so many threads record that their chunks
 * would take more than an eighth of the spool. So a thread that waits for a chunk has its turn when about an eighth of the spool
 * has been written. */
uint32_t dft__chunk_usual_log(const dft__spool *spool);

/* Takes a chunk: its header says OPEN, a new generation, no use of it before. beyond_limit: also when the spool is as long
 * as the user allows, for what is not a record. NULL when there is none. */
dft__chunk *dft__chunk_take(dft__spool *spool, uint32_t size_log, uint32_t use, int beyond_limit);
void dft__chunk_give(dft__spool *spool, dft__chunk *chunk);

/* The chunk is FULL: no cell from `end` on will be written. It gets the next number. A thread calls this in the order in which it
 * has filled its chunks. */
void dft__chunk_finish(dft__spool *spool, dft__chunk *chunk, uint32_t end);

/* The chunk at or after *offset, which moves behind it; NULL at the end. Start with 0. Magic and size of the chunk have been checked. */
dft__chunk *dft__chunk_walk(const dft__spool *spool, uint64_t *offset);

#endif
