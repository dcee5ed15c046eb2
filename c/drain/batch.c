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
  batch->final_ticks = before->final_ticks;
  batch->alive_ticks = 0;
  batch->from_page = before->open_page;
  batch->from_depth = before->open_depth;
  batch->finish_ns = 0;
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
  batch->cell = 0;
  batch->walked = (uint64_t)batch->from_page << DFT__PAGE_LOG;
  batch->thread = NULL;
  batch->depth = 0;
  batch->frame_id = 0;
  batch->chunk_count = 0;
  batch->is_large = 0;
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
  batch->cell = 0;
  batch->walked = (uint64_t)batch->from_page << DFT__PAGE_LOG;
  batch->thread = NULL;
  batch->depth = 0;
  batch->frame_id = 0;
  batch->has_held = 0;
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

enum claim_result { CLAIMED, UNFINISHED, GONE };

/* Until the chunk is claimed, another batch may give it back, and a thread take it again. The whole status is compared, because
 * a chunk that is FREE keeps its old generation until dft__chunk_take has cleared the claim and then opens it: claimed in
 * between, it would lose what the thread writes next. tests/c/test_claim_model.py tries every order of these steps. */
static enum claim_result claim(const dft_batch *batch, dft__chunk *chunk, struct dft__claimed *claimed) {
  const int is_final = (batch->flags & DFT__BATCH_FINAL) != 0;
  for (;;) {
    uint64_t status = DFT__ACQUIRE(chunk->status);
    uint32_t end, consumed;
    if (!dft__queue_is_waiting(chunk, status, is_final, &end)) return GONE;
    if (!is_final && is_unfinished(batch->spool, chunk, dft__status_gen(status), end)) return UNFINISHED;
    if (atomic_exchange(&chunk->claim, 1)) return GONE;
    consumed = DFT__GET(chunk->consumed);
    if (DFT__ACQUIRE(chunk->status) == status && consumed <= end) {
      *claimed = (struct dft__claimed){dft__chunk_page(batch->spool, chunk), dft__status_gen(status), consumed, end, 1};
      return CLAIMED;
    }
    DFT__RELEASE(chunk->claim, 0);
  }
}

/* The least that lines take: a record makes one, and further cells hold arguments. */
#define LINE_BYTES 120u
#define CELL_BYTES 24u

/* How many bytes of lines the records of a claimed chunk make, about. Finds out whether they are sorted. */
static uint64_t survey(const dft_batch *batch, struct dft__claimed *claimed) {
  const char *chunk = (const char *)dft__chunk_at(batch->spool, claimed->page);
  uint64_t text = 0, last = 0;
  for (uint32_t cell = claimed->start; cell < claimed->end;) {
    const dft__record *record = (const dft__record *)(chunk + (size_t)cell * DFT__CELL);
    uint64_t head = DFT__ACQUIRE(record->head);
    uint32_t kind = dft__head_kind(head), cells = dft__head_cells(head);
    if (dft__head_gen(head) != claimed->gen || kind < DFT__KIND_COMPLETE || !cells) {
      cell++;
      continue;
    }
    text += LINE_BYTES + (uint64_t)(cells - 1) * CELL_BYTES;
    if (dft__kind_has_ticks(kind)) {
      if (record->end < last) claimed->is_sorted = 0;
      last = record->end;
    }
    cell += cells;
  }
  return text;
}

/* Threads whose older chunk was passed over. */
#define PASSED_MOST 64u
typedef struct passed_threads {
  uint32_t count;
  uint32_t pages[PASSED_MOST];
} passed_threads;

static int has_passed(const passed_threads *passed, uint32_t thread) {
  for (uint32_t i = 0; i < passed->count; i++) {
    if (passed->pages[i] == thread) return 1;
  }
  return 0;
}

/* Claims the chunk, or leaves it in the queue when its thread is still writing to it, or to an older one. Returns the bytes of
 * lines. */
static uint64_t claim_next(dft_batch *batch, dft__queue *queue, const dft__ordered *next, passed_threads *passed) {
  struct dft__claimed *claimed = &batch->chunks[batch->chunk_count];
  enum claim_result result = UNFINISHED;
  if (!has_passed(passed, next->thread)) {
    result = claim(batch, dft__chunk_at(batch->spool, next->at), claimed);
    if (result == UNFINISHED && !(batch->flags & DFT__BATCH_PRESSED)) passed->pages[passed->count++] = next->thread;
  }
  if (result == UNFINISHED) dft__queue_keep(queue);
  if (result != CLAIMED) return 0;
  batch->chunk_count++;
  return survey(batch, claimed);
}

uint64_t dft__batch_claim(dft_batch *batch, dft__queue *queue, uint64_t text) {
  const int is_final = (batch->flags & DFT__BATCH_FINAL) != 0;
  passed_threads passed = {0};
  uint64_t made = 0, cells = 0;
  uint32_t most = dft__commit_most(batch->spool, 0);
  int has_walked = 0;
  while (made < text && passed.count < PASSED_MOST) {
    const dft__ordered *next;
    if (batch->chunk_count == most) most = dft__commit_most(batch->spool, 1);
    if (batch->chunk_count == most) break;
    next = dft__queue_next(queue);
    if (next) {
      made += claim_next(batch, queue, next, &passed);
    } else {
      if (has_walked) break;
      has_walked = 1;
      dft__queue_fill(queue, batch->spool, is_final);
    }
  }
  dft__queue_rewind(queue);
  for (uint32_t i = 0; i < batch->chunk_count; i++) cells += batch->chunks[i].end - batch->chunks[i].start;
  batch->is_large = made >= text || batch->chunk_count == most;
  batch->has_more = batch->is_large && !(has_walked && dft__queue_is_empty(queue));
  return cells;
}

/* Fills in which cells it holds, where there is a list; returns its length. */
static uint32_t list_consumed(const dft_batch *batch, dft__consumed *list) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < batch->chunk_count; i++) {
    const struct dft__claimed *claimed = &batch->chunks[i];
    if (claimed->end == claimed->start) continue;
    if (list) list[count] = (dft__consumed){claimed->page, claimed->gen, claimed->end};
    count++;
  }
  return count;
}

void dft__batch_commit(const dft_batch *batch, const uint64_t bytes[DFT__SINKS_MAX]) {
  dft__commit *next = dft__commit_begin(batch->spool);
  next->events += batch->events;
  if (batch->last_ticks > next->last_ticks) next->last_ticks = batch->last_ticks;
  memcpy(next->bytes, bytes, sizeof next->bytes);
  next->complete = batch->is_done;
  next->count = list_consumed(batch, NULL);
  list_consumed(batch, dft__commit_list(batch->spool, next));
  dft__commit_finish(batch->spool, next);
}

void dft__batch_apply(dft_batch *batch) {
  for (uint32_t i = 0; i < batch->chunk_count; i++) {
    dft__chunk *chunk = dft__chunk_at(batch->spool, batch->chunks[i].page);
    DFT__SET(chunk->consumed, batch->chunks[i].end);
    if (dft__status_state(DFT__GET(chunk->status)) == DFT__FULL) dft__chunk_give(batch->spool, chunk);
    else DFT__RELEASE(chunk->claim, 0);
  }
  batch->chunk_count = 0;
}

void dft__batch_unclaim(dft_batch *batch) {
  for (uint32_t i = 0; i < batch->chunk_count; i++)
    DFT__RELEASE(dft__chunk_at(batch->spool, batch->chunks[i].page)->claim, 0);
  batch->chunk_count = 0;
}
