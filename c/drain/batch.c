/* batch.c - a batch: which chunks it claims, and what of them is consumed.
 * SPDX-License-Identifier: MIT */
#include "batch.h"

#include "base/hash.h"
#include "spool/clock.h"
#include "spool/commit.h"
#include "spool/intern.h"

void dft__batch_begin(dft_batch *batch, dft__spool *spool, uint64_t seq, uint32_t flags) {
  static const dft__commit none;
  /* A final batch is alone: the commit before it is there. */
  const dft__commit *before = flags & DFT__BATCH_FINAL ? &spool->header->commit[(seq - 1) & 1] : &none;
  const dft__name *cwd;
  batch->spool = spool;
  batch->seq = seq;
  batch->flags = flags;
  batch->is_done = 0;
  batch->events = 0;
  batch->last_ticks = 0;
  batch->events_before = before->events;
  batch->is_ending = before->final_ticks != 0;
  batch->final_ticks = batch->is_ending ? before->final_ticks : dft__clock_idle_ticks();
  batch->from_page = before->open_page;
  batch->from_depth = before->open_depth;
  batch->next_id = 0;
  batch->first_id = 0;
  batch->handed = 0;
  batch->most = UINT64_MAX;
  batch->piece = 0;
  batch->step = flags & DFT__BATCH_FIRST ? DFT__STEP_OPENING : DFT__STEP_DEFINITIONS;
  batch->line = 0;
  batch->definition = 0;
  batch->first_definition = 0;
  batch->chunk = 0;
  batch->walked = (uint64_t)batch->from_page << DFT__PAGE_LOG;
  batch->thread = NULL;
  batch->depth = 0;
  batch->frame_id = 0;
  batch->chunk_count = 0;
  batch->has_more = 0;
  batch->has_held = 0;
  memset(batch->seen_paths, 0, sizeof batch->seen_paths);
  dft__hex(batch->host_hash, spool->header->host_hash);
  cwd = spool->header->metadata ? dft__name_at(spool, spool->header->cwd) : NULL;
  batch->cwd_hash = cwd ? cwd->hash : 0;
}

void dft__batch_rewind(dft_batch *batch) {
  batch->most = batch->handed;
  batch->handed = 0;
  batch->piece = 0;
  batch->events = 0;
  batch->is_done = 0;
  batch->step = batch->flags & DFT__BATCH_FIRST ? DFT__STEP_OPENING : DFT__STEP_DEFINITIONS;
  batch->line = 0;
  batch->next_id = batch->first_id;
  batch->definition = batch->first_definition;
  batch->chunk = 0;
  batch->walked = (uint64_t)batch->from_page << DFT__PAGE_LOG;
  batch->thread = NULL;
  batch->depth = 0;
  batch->frame_id = 0;
  batch->has_held = 0;
  for (uint32_t i = 0; i < batch->chunk_count; i++) batch->chunks[i].cell = batch->chunks[i].start;
  memset(batch->seen_paths, 0, sizeof batch->seen_paths);
}

/* ---- Claims ------------------------------------------------------------------------------------------------------- */

/* The thread may leave between these two loads, and its page hold the next thread's records. Either answer is right then: it has
 * finished its own, and a chunk that is left alone now is claimed by the next batch. So the thread sanitizer need not look. */
static __attribute__((no_sanitize("thread"))) int is_inside_call(const dft__chunk *state) {
  if (DFT__ACQUIRE(state->use) != DFT__USE_THREAD) return 0; /* it has left, and the chunk has another use now */
  return DFT__ACQUIRE(((const dft__thread *)((const char *)state + DFT__CELL))->busy) != 0;
}

/* Whether a thread is still writing into it: one that is inside a call has left a cell without a head. */
static int is_unfinished(const dft__spool *spool, const dft__chunk *chunk, uint32_t gen, uint32_t end) {
  uint32_t page = DFT__GET(chunk->thread);
  const dft__chunk *state = dft__chunk_at(spool, page);
  if (!page || ((uint64_t)page << DFT__PAGE_LOG) + 4096 > spool->map_bytes) return 0;
  if (!is_inside_call(state)) return 0;
  for (uint32_t cell = DFT__GET(chunk->consumed); cell < end;) {
    uint64_t head = DFT__ACQUIRE(((const dft__record *)((const char *)chunk + (size_t)cell * DFT__CELL))->head);
    if (dft__head_gen(head) != gen || dft__head_kind(head) < DFT__KIND_COMPLETE) return 1;
    cell += dft__head_cells(head) ? dft__head_cells(head) : 1;
  }
  return 0;
}

/* A FULL chunk is claimed even if nothing is left in it, to be given back. An OPEN one is not: it stays with its thread, and
 * would be claimed again and again. */
static int is_claimable(const dft_batch *batch, const dft__chunk *chunk, uint64_t status, uint32_t *end) {
  uint32_t cells = dft__cells_of(DFT__GET(chunk->size_log));
  uint32_t consumed = DFT__GET(chunk->consumed);
  int is_final = (batch->flags & DFT__BATCH_FINAL) != 0;
  if (DFT__GET(chunk->use) != DFT__USE_RECORDS || consumed < 1) return 0;
  *end = cells;
  if (dft__status_state(status) == DFT__OPEN) return is_final && consumed < cells;
  if (dft__status_state(status) != DFT__FULL) return 0;
  if (dft__status_end(status) < cells) *end = dft__status_end(status);
  return consumed <= *end && (is_final || !is_unfinished(batch->spool, chunk, dft__status_gen(status), *end));
}

/* Until the chunk is claimed, another batch may give it back, and a thread take it again. The whole status is compared, because
 * a chunk that is FREE keeps its old generation until dft__chunk_take has cleared the claim and then opens it: claimed in
 * between, it would lose what the thread writes next. tests/c/test_claim_model.py tries every order of these steps. */
static int claim(const dft_batch *batch, dft__chunk *chunk, struct dft__claimed *claimed) {
  for (;;) {
    uint64_t status = DFT__ACQUIRE(chunk->status);
    uint32_t end, consumed;
    if (!is_claimable(batch, chunk, status, &end) || atomic_exchange(&chunk->claim, 1)) return 0;
    consumed = DFT__GET(chunk->consumed);
    if (DFT__ACQUIRE(chunk->status) == status && consumed <= end) {
      *claimed = (struct dft__claimed){dft__chunk_page(batch->spool, chunk), dft__status_gen(status), consumed,
                                       consumed, end};
      return 1;
    }
    DFT__RELEASE(chunk->claim, 0);
  }
}

/* The walk continues where the last one ended, so every thread's chunks get their turn. */
uint64_t dft__batch_claim(dft_batch *batch, uint64_t cells) {
  static _Atomic uint64_t last_offset;
  uint64_t start = batch->flags & DFT__BATCH_FINAL ? 0 : atomic_load(&last_offset);
  uint64_t offset = start;
  uint64_t claimed = 0;
  int has_turned = start == 0;
  uint32_t most = dft__commit_most(batch->spool, 0);
  while (claimed < cells) {
    dft__chunk *chunk;
    if (batch->chunk_count == most) most = dft__commit_most(batch->spool, 1);
    if (batch->chunk_count == most) break;
    chunk = dft__chunk_walk(batch->spool, &offset);
    if (!chunk) {
      if (has_turned) break;
      has_turned = 1;
      offset = 0;
      continue;
    }
    if (has_turned && start && offset > start) break;
    if (!claim(batch, chunk, &batch->chunks[batch->chunk_count])) continue;
    claimed += batch->chunks[batch->chunk_count].end - batch->chunks[batch->chunk_count].start;
    batch->chunk_count++;
  }
  batch->has_more = batch->chunk_count == most;
  atomic_store(&last_offset, offset);
  return claimed;
}

static int is_empty(const dft_batch *batch, uint32_t i) {
  const dft__chunk *chunk = dft__chunk_at(batch->spool, batch->chunks[i].page);
  return batch->chunks[i].cell >= batch->chunks[i].end && dft__status_state(DFT__GET(chunk->status)) == DFT__FULL;
}

/* Fills in which cells were handed out, where there is a list; returns its length. */
static uint32_t list_consumed(const dft_batch *batch, dft__consumed *list) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < batch->chunk_count; i++) {
    const struct dft__claimed *claimed = &batch->chunks[i];
    if (claimed->cell == claimed->start) continue;
    if (list) list[count] = (dft__consumed){claimed->page, claimed->gen, claimed->cell};
    count++;
  }
  return count;
}

void dft__batch_commit(const dft_batch *batch, const uint64_t bytes[DFT__SINKS_MAX]) {
  dft__commit *next = dft__commit_begin(batch->spool);
  next->events += batch->events;
  if (batch->last_ticks > next->last_ticks) next->last_ticks = batch->last_ticks;
  memcpy(next->bytes, bytes, sizeof next->bytes);
  next->final_ticks = batch->is_ending || batch->thread ? batch->final_ticks : 0;
  next->open_page = batch->thread ? dft__batch_thread_page(batch) : batch->from_page;
  next->open_depth = batch->thread ? batch->depth - (batch->has_held ? 1 : 0) : batch->from_depth;
  next->complete = batch->is_done;
  next->count = list_consumed(batch, NULL);
  list_consumed(batch, dft__commit_list(batch->spool, next));
  dft__commit_finish(batch->spool, next);
}

void dft__batch_apply(dft_batch *batch) {
  for (uint32_t i = 0; i < batch->chunk_count; i++) {
    dft__chunk *chunk = dft__chunk_at(batch->spool, batch->chunks[i].page);
    DFT__SET(chunk->consumed, batch->chunks[i].cell);
    if (is_empty(batch, i)) dft__chunk_give(batch->spool, chunk);
    else DFT__RELEASE(chunk->claim, 0);
  }
  batch->chunk_count = 0;
}

void dft__batch_unclaim(dft_batch *batch) {
  for (uint32_t i = 0; i < batch->chunk_count; i++)
    DFT__RELEASE(dft__chunk_at(batch->spool, batch->chunks[i].page)->claim, 0);
  batch->chunk_count = 0;
}
