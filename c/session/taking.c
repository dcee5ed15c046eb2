/* taking.c - publishes the trace of a process that may be alive, so that it can go on.
 *
 * The process may be recording at every moment, so nothing is decoded in its spool. The recovery keeps the process from
 * appending (spool/ownership.h), notes in each chunk up to which cell it is written, and works on a copy of that. Nothing counts
 * before the outputs are complete; then the spool gets a last commit. When the trace is published, the chunks are marked as
 * consumed up to the same cells, and the commits start again with 1. The process notices, and begins another output there. So
 * every record is before the cut and in this trace, or behind it and in the next. Regions that are open are not in this trace:
 * the process may end them. A recovery that dies is repeated.
 * SPDX-License-Identifier: MIT */
#include "taking.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "record/thread.h"
#include "spool/commit.h"
#include "spool/leftover.h"
#include "spool/ownership.h"

#define WAIT_NS UINT64_C(2000000000) /* for threads that are inside a call: the process was stopped, or died there */
#define PAUSE_NS 50000
#define REST_SECONDS 60 /* that a process has to go on, after its trace was taken */

/* ---- The cut ---------------------------------------------------------------------------------------------------------- */

static int has_records(const dft__chunk *chunk) {
  uint32_t state = dft__status_state(DFT__ACQUIRE(chunk->status));
  return DFT__GET(chunk->use) == DFT__USE_RECORDS && (state == DFT__OPEN || state == DFT__FULL);
}

/* The thread that writes to a chunk. NULL: it has ended. */
static const dft__thread *writer_of(const dft__spool *spool, const dft__chunk *chunk) {
  uint32_t page = DFT__GET(chunk->thread);
  uint64_t offset = (uint64_t)page << DFT__PAGE_LOG;
  const dft__chunk *state = dft__chunk_at(spool, page);
  if (offset < DFT__HEADER_BYTES || offset + 4096 > DFT__GET(spool->header->file_bytes) ||
      offset + 4096 > spool->map_bytes)
    return NULL;
  if (DFT__ACQUIRE(state->use) != DFT__USE_THREAD || dft__status_state(DFT__GET(state->status)) != DFT__OPEN)
    return NULL;
  return (const dft__thread *)((const char *)state + DFT__CELL);
}

/* The first cell that is not written. It may be one that was given up: then the records behind it are left for the next trace. */
static uint32_t find_unwritten(const dft__chunk *chunk, uint64_t status) {
  uint32_t end = dft__cells_of(DFT__GET(chunk->size_log)), cell = DFT__GET(chunk->consumed);
  while (cell < end) {
    uint64_t head = DFT__ACQUIRE(((const dft__record *)((const char *)chunk + (size_t)cell * DFT__CELL))->head);
    if (dft__head_gen(head) != dft__status_gen(status) || dft__head_kind(head) < DFT__KIND_COMPLETE) return cell;
    cell += dft__head_cells(head) ? dft__head_cells(head) : 1;
  }
  return end;
}

/* The first cell that was not reserved. A thread reserves cells when it is busy. So if it is not, every cell before its cursor, as
 * it was a moment earlier, is written, or was given up. Zero when it is busy. */
static int find_end(const dft__spool *spool, const dft__chunk *chunk, uint64_t status, uint32_t *end) {
  const dft__thread *writer = writer_of(spool, chunk);
  uint64_t cursor = writer ? DFT__ACQUIRE(writer->cursor) : 0;
  int is_busy = writer && DFT__ACQUIRE(writer->busy);
  *end = dft__cells_of(DFT__GET(chunk->size_log));
  if (dft__status_state(status) == DFT__FULL) {
    if (dft__status_end(status) < *end) *end = dft__status_end(status);
    return !is_busy;
  }
  if (!writer) *end = find_unwritten(chunk, status); /* nobody writes to it any more, or not yet */
  if (!writer) return 1;
  if (dft__cursor_page(cursor) != dft__chunk_page(spool, chunk)) return 0;
  if (dft__cursor_cell(cursor) < *end) *end = dft__cursor_cell(cursor);
  return !is_busy;
}

static void cut_chunk(const dft__spool *spool, dft__chunk *chunk, uint64_t deadline) {
  struct timespec pause = {0, PAUSE_NS};
  for (;;) {
    uint64_t status = DFT__ACQUIRE(chunk->status);
    int is_still = find_end(spool, chunk, status, &chunk->cut_end);
    chunk->cut_gen = dft__status_gen(status);
    if (is_still && DFT__ACQUIRE(chunk->status) == status) return;
    if (dft__clock_ns() > deadline) {
      chunk->cut_end = find_unwritten(chunk, status);
      return;
    }
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
  }
}

static void cut(const dft__spool *spool) {
  uint64_t deadline = dft__clock_ns() + WAIT_NS, offset = 0;
  dft__chunk *chunk;
  while ((chunk = dft__chunk_walk(spool, &offset)) != NULL) {
    if (has_records(chunk)) cut_chunk(spool, chunk, deadline);
    else chunk->cut_gen = 0;
  }
}

/* ---- The copy --------------------------------------------------------------------------------------------------------- */

static void apply_to_copy(const dft__spool *copy) {
  uint64_t offset = 0;
  dft__chunk *chunk;
  while ((chunk = dft__chunk_walk(copy, &offset)) != NULL) {
    uint32_t gen = dft__status_gen(DFT__GET(chunk->status));
    if (DFT__GET(chunk->use) == DFT__USE_THREAD) DFT__SET(((dft__thread *)((char *)chunk + DFT__CELL))->depth, 0);
    if (!has_records(chunk)) continue;
    if (chunk->cut_gen == gen) DFT__SET(chunk->status, dft__status(gen, DFT__FULL, chunk->cut_end));
    else DFT__SET(chunk->status, dft__status(gen, DFT__FREE, 0)); /* of a later moment */
  }
}

dft_status dft__taking_begin(dft__spool *spool, dft__spool *copy) {
  dft_status status;
  dft__ownership_take(spool);
  cut(spool);
  status = dft__spool_copy(copy, spool->path);
  if (status != DFT_OK) return status;
  copy->fd = spool->fd; /* it shows that this is a recovery, and who owns the file */
  memcpy(copy->inner, spool->inner, sizeof copy->inner);
  apply_to_copy(copy);
  return DFT_OK;
}

void dft__taking_drop(dft__spool *copy) {
  munmap(copy->base, copy->map_bytes);
}

/* ---- The end ---------------------------------------------------------------------------------------------------------- */

void dft__taking_complete(dft__spool *spool, const dft__spool *copy) {
  const dft__commit *last = dft__commit_current(copy);
  dft__commit *next = dft__commit_begin(spool);
  next->events = last->events;
  next->complete = 1;
  next->count = 0;
  memcpy(next->bytes, last->bytes, sizeof next->bytes);
  dft__commit_finish(spool, next);
  atomic_fetch_sub(&spool->header->dropped, DFT__GET(copy->header->dropped)); /* the trace tells of them */
}

int dft__taking_is_complete(const dft__spool *spool) {
  return atomic_load(&spool->header->is_taken) && dft__commit_current(spool)->complete;
}

int dft__taking_is_long_ago(const dft__spool *spool) {
  uint64_t taken = spool->header->taken_seconds;
  return taken && taken + REST_SECONDS <= (uint64_t)time(NULL);
}

void dft__taking_end(dft__spool *spool, int has_published) {
  uint64_t offset = 0;
  dft__chunk *chunk;
  while ((chunk = dft__chunk_walk(spool, &offset)) != NULL) {
    if (!chunk->cut_gen || chunk->cut_gen != dft__status_gen(DFT__GET(chunk->status))) continue;
    if (DFT__GET(chunk->consumed) < chunk->cut_end) DFT__SET(chunk->consumed, chunk->cut_end);
  }
  if (has_published || !spool->header->taken_seconds) spool->header->taken_seconds = (uint64_t)time(NULL);
  dft__ownership_renew(spool);
}
