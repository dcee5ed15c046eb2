/* adopt.c - the spool that this process left when it called exec: its next image continues it.
 *
 * So a process has one trace, however often it changes its program, and a shell's child pays for one session. The image before
 * may have damaged the spool, so everything that recording follows without a check is checked here first.
 * SPDX-License-Identifier: MIT */
#include "adopt.h"

#include "base/config.h"
#include "drain/drain.h"
#include "pointer.h"
#include "record/joining.h"
#include "recover.h"
#include "spool/clock.h"
#include "spool/commit.h"
#include "spool/intern.h"
#include "spool/leftover.h"

static int is_earlier_image(const dft__header *header, const dft__identity *own) {
  return header->pid == own->pid && header->start_ticks == own->start_ticks && own->start_ticks &&
         header->pid_namespace == own->pid_namespace && header->image != own->image &&
         strcmp(header->boot_id, own->boot_id) == 0;
}

static dft__thread *thread_in(dft__chunk *chunk) {
  int is_open = dft__status_state(DFT__ACQUIRE(chunk->status)) == DFT__OPEN;
  return is_open && DFT__ACQUIRE(chunk->use) == DFT__USE_THREAD ? (dft__thread *)((char *)chunk + DFT__CELL) : NULL;
}

/* ---- Checks --------------------------------------------------------------------------------------------------------- */

/* The chunk that a thread writes to, if any. */
static int is_cursor_fine(const dft__spool *spool, const dft__thread *thread) {
  uint64_t cursor = DFT__GET(thread->cursor);
  uint32_t page = dft__cursor_page(cursor);
  uint64_t offset = 0;
  dft__chunk *chunk;
  if (!page) return 1;
  while ((chunk = dft__chunk_walk(spool, &offset)) != NULL) {
    if (dft__chunk_page(spool, chunk) != page) continue;
    return DFT__GET(chunk->size_log) == dft__cursor_log(cursor) && DFT__GET(chunk->use) == DFT__USE_RECORDS &&
           dft__status_state(DFT__GET(chunk->status)) == DFT__OPEN;
  }
  return 0;
}

/* Only stacks that never grew, and whose arguments are in order. */
static int is_thread_fine(const dft__spool *spool, const dft__thread *thread) {
  uint64_t frames = (uint64_t)((const char *)(thread + 1) - spool->base);
  uint64_t args = frames + DFT__THREAD_FRAMES * sizeof(dft__frame);
  uint64_t lanes = (uint64_t)((const char *)thread->lane - spool->base);
  const dft__frame *frame = (const dft__frame *)(thread + 1);
  uint32_t depth = DFT__GET(thread->depth), end = DFT__GET(thread->args_used);
  if (DFT__GET(thread->frames) != dft__area(frames, DFT__THREAD_FRAMES) || depth > DFT__THREAD_FRAMES) return 0;
  if (DFT__GET(thread->args) != dft__area(args, DFT__THREAD_ARGS) || end > DFT__THREAD_ARGS || end % 8) return 0;
  if (DFT__GET(thread->lanes) != dft__area(lanes, DFT__LANES) || thread->lane_count > DFT__LANES) return 0;
  if (DFT__GET(thread->old_stacks)) return 0;
  for (uint32_t i = depth; i-- > 0;) {
    uint32_t from = DFT__GET(frame[i].args);
    if (from > end || from % 8 || DFT__GET(frame[i].flags) & DFT__FRAME_LOST) return 0;
    end = from;
  }
  return is_cursor_fine(spool, thread);
}

static int are_threads_fine(const dft__spool *spool) {
  uint64_t offset = 0;
  dft__chunk *chunk;
  while ((chunk = dft__chunk_walk(spool, &offset)) != NULL) {
    const dft__thread *thread = thread_in(chunk);
    if (thread && !is_thread_fine(spool, thread)) return 0;
  }
  return 1;
}

/* Not a trace that was about to end, nor one with facts of the program: those are rare, and checking each is not worth it. */
static int is_adoptable(const dft__spool *spool, const dft__identity *own) {
  const dft__header *header = spool->header;
  const dft__commit *commit = dft__commit_current(spool);
  return is_earlier_image(header, own) && header->folder[0] == '/' && header->settings == dft__config_hash() &&
         !commit->complete && !DFT__GET(header->is_taken) && !commit->final_ticks && !DFT__GET(header->facts_used) &&
         !DFT__GET(header->facts_lock) && dft__clock_is_of(header) && dft__intern_is_fine(spool) &&
         are_threads_fine(spool);
}

/* What is left of the first block of small chunks, if nothing else was ever cut from the file; else 0. */
static uint64_t rest_of_block(const dft__spool *spool) {
  const dft__header *header = spool->header;
  const uint64_t end = DFT__HEADER_BYTES + (UINT64_C(1) << DFT__BLOCK_LOG);
  uint64_t left = DFT__GET(header->block[DFT__CHUNK_LOG_MIN]);
  uint64_t last = DFT__HEADER_BYTES, offset = 0;
  while (dft__chunk_walk(spool, &offset) != NULL) last = offset;
  if (DFT__GET(header->top) != end || left >> 16 < last || left >> 16 > end || (left >> 16) % 4096) return 0;
  return (left & 0xffff) == end - (left >> 16) ? left : 0;
}

/* ---- Taking over ---------------------------------------------------------------------------------------------------- */

int dft__adopt(dft__spool *spool, const char *claim, const dft__identity *own) {
  char path[DFT__PATH_MAX];
  enum dft__claim_kind kind = dft__pointer_follow(claim, own, path, sizeof path);
  uint64_t offset = 0, rest;
  dft__chunk *chunk;
  if (kind != DFT__CLAIM_SPOOL && kind != DFT__CLAIM_POINTER) return 0;
  if (dft__spool_open(spool, path) != DFT_OK) return 0;
  if (!is_adoptable(spool, own) || !dft__spool_take_over(spool)) {
    dft__spool_close(spool);
    return 0;
  }
  dft__commit_redo(spool);
  rest = rest_of_block(spool);
  dft__recover_reset(spool);
  DFT__SET(spool->header->block[DFT__CHUNK_LOG_MIN], rest);
  spool->header->image = own->image;
  DFT__SET(spool->header->is_appending, 0);
  DFT__SET(spool->header->ended_ticks, 0);
  dft__intern_know(spool);
  while ((chunk = dft__chunk_walk(spool, &offset)) != NULL) {
    if (dft__status_state(DFT__GET(chunk->status)) == DFT__FREE) dft__chunk_give(spool, chunk);
  }
  return 1;
}

void dft__adopt_threads(const dft__spool *spool, uint64_t session) {
  uint64_t offset = 0;
  dft__chunk *chunk;
  dft__self.base = spool->base; /* this thread has not joined, and looks up keys there */
  while ((chunk = dft__chunk_walk(spool, &offset)) != NULL) {
    uint64_t status = DFT__GET(chunk->status);
    dft__thread *thread = thread_in(chunk);
    if (thread) {
      dft__own gone = dft__own_of(session, spool->base, thread);
      DFT__SET(thread->busy, 0);
      DFT__SET(thread->nested, 0);
      dft__thread_leave(&gone);
    } else if (DFT__GET(chunk->use) == DFT__USE_RECORDS && dft__status_state(status) == DFT__FULL &&
               dft__status_end(status) > DFT__GET(chunk->consumed)) {
      dft__drain_notify(spool, dft__status_end(status) - DFT__GET(chunk->consumed), UINT64_MAX);
    }
  }
}
