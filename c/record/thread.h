/* thread.h - what belongs to one thread: its place in the spool, its open regions, where its next record goes.
 *
 * Functions of a thread's own state run on that thread alone, and are safe in its signal handlers.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_THREAD_H
#define DFT_THREAD_H

#include "spool/chunk.h"
#include "spool/hooks.h"
#include "spool/visit.h"

/* Thread-local; static TLS is scarce for libraries loaded late, so there is little more of it. */
typedef struct dft__own {
  uint64_t session; /* equal to the gate: all of this is valid, and events are recorded */
  char *base;       /* of the spool */
  dft__thread *thread;
} dft__own;

extern __thread dft__own dft__self __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* From its parts, which functions that end in a tail call hand on in registers. */
static inline dft__own dft__own_of(uint64_t session, char *base, dft__thread *thread) {
  dft__own own;
  own.session = session;
  own.base = base;
  own.thread = thread;
  return own;
}

/* A copy of this thread's state for one call. A signal handler may fork in the middle of the call and record in the child,
 * which changes dft__self; what the interrupted call goes on with must belong together. Nonzero when the copy is valid, and
 * recording is neither off nor paused: the gate is read last. */
static inline int dft__own_copy(dft__own *own) {
  own->session = dft__self.session;
  atomic_signal_fence(memory_order_seq_cst);
  /* One at a time: as a pair they would come through a vector register. */
  own->base = __atomic_load_n(&dft__self.base, __ATOMIC_RELAXED);
  own->thread = __atomic_load_n(&dft__self.thread, __ATOMIC_RELAXED);
  atomic_signal_fence(memory_order_seq_cst);
  return DFT__LIKELY(DFT__GET(*dft__gate_page()) == own->session);
}

/* The same for calls that may have to enter first. */
static inline enum dft__readiness dft__thread_take_for(dft__own *own, uint32_t events) {
  enum dft__readiness ready;
  if (dft__own_copy(own)) return DFT__READY;
  if (!dft_is_active()) return DFT__OFF; /* for bindings, which call past the inline functions of dft.h */
  do ready = dft__hooks.thread_enter(events);
  while (!dft__own_copy(own) && ready == DFT__READY);
  return ready;
}
static inline enum dft__readiness dft__thread_take(dft__own *own) {
  return dft__thread_take_for(own, 0);
}
/* For calls that make an event, which is lost and counted when the thread finds no room. One event has one such call: its begin,
 * where it has one. */
static inline enum dft__readiness dft__thread_take_event(dft__own *own) {
  return dft__thread_take_for(own, 1);
}

/* For calls that record one event and have no end to wait for. */
static inline int dft__thread_is_recording(dft__own *own) {
  return dft_is_active() && dft__thread_take_event(own) == DFT__READY;
}

/* The spool that `own` belongs to, while its session lasts; else NULL. The spool of another session is not touched: it may be
 * handed to the next one at any moment. */
dft__spool *dft__thread_session_spool(const dft__own *own);

static inline dft__frame *dft__frames(const dft__own *own) {
  return (dft__frame *)(own->base + dft__area_offset(DFT__GET(own->thread->frames)));
}

/* An id that no other event of this process has. */
uint64_t dft__thread_next_block(const dft__own *own);
static inline uint64_t dft__thread_next_id(const dft__own *own) {
  uint64_t id = DFT__GET(own->thread->next_id);
  if (DFT__LIKELY(id % DFT__ID_BLOCK != 0 && dft__own_cas64(&own->thread->next_id, id, id + 1))) return id;
  const dft__own slow = *own; /* a copy here, so that the caller's can stay in registers; likewise below */
  return dft__thread_next_block(&slow);
}

/* Moves to a larger area, for one frame more, `bytes` more of arguments, or one lane more; zero when there is no memory. */
int dft__thread_grow_frames(const dft__own *own);
int dft__thread_grow_args(const dft__own *own, uint32_t bytes);
int dft__thread_grow_lanes(const dft__own *own);

/* ---- Cursor: where the next record goes ---- */

static inline uint64_t dft__cursor(uint32_t page, uint32_t size_log, uint32_t cell) {
  return (uint64_t)page << 30 | (uint64_t)size_log << 24 | cell;
}
static inline uint32_t dft__cursor_page(uint64_t cursor) {
  return (uint32_t)(cursor >> 30);
}
static inline uint32_t dft__cursor_log(uint64_t cursor) {
  return (uint32_t)(cursor >> 24) & 63u;
}
static inline uint32_t dft__cursor_cell(uint64_t cursor) {
  return (uint32_t)cursor & 0xffffffu;
}

/* Whether the chunk has no room for so many cells there. A thread that is late finds zeros in the place of its cursor, once
 * dft_stop has replaced the spool; a record of one cell then goes to the start of that plain memory, where nobody looks. The thread
 * sanitizer still holds the header for what is there, until it has noticed the new mapping. */
static inline int dft__cursor_is_over(uint64_t cursor, uint32_t cells) {
#ifdef DFT__THREAD_SANITIZER
  if (!dft__cursor_page(cursor)) return 1;
#endif
  return ((cells - 1 + (uint64_t)dft__cursor_cell(cursor)) * DFT__CELL) >> dft__cursor_log(cursor) != 0;
}

#define DFT__HUGE_CELLS 512u /* records from this size on get a chunk of their own */

/* The record there, and the generation for its heads. */
static inline dft__record *dft__cursor_record(char *base, uint64_t cursor, uint32_t *gen) {
  char *chunk = base + ((cursor >> 30) << DFT__PAGE_LOG);
  *gen = dft__status_gen(DFT__GET(((dft__chunk *)chunk)->status));
  return (dft__record *)(chunk + (uint64_t)dft__cursor_cell(cursor) * DFT__CELL);
}

/* `seen` did not have room for `cells`: goes on with another chunk. NULL when there is none; the loss is counted. */
dft__record *dft__thread_reserve(const dft__own *own, uint64_t seen, uint32_t cells, uint32_t *gen);

/* Gets a new thread its first chunk. Zero when there is none; nothing is counted. */
int dft__thread_open_chunk(const dft__own *own);

/* Reserves cells for one record, fewer than DFT__HUGE_CELLS. Between this and the store of its head the thread must be busy. */
static inline dft__record *dft__reserve(const dft__own *own, uint32_t cells, uint32_t *gen) {
  uint64_t cursor = dft__own_add64(&own->thread->cursor, cells);
  if (DFT__LIKELY(!dft__cursor_is_over(cursor, cells))) return dft__cursor_record(own->base, cursor, gen);
  const dft__own slow = *own;
  uint32_t slow_gen;
  dft__record *record = dft__thread_reserve(&slow, cursor, cells, &slow_gen);
  *gen = slow_gen;
  return record;
}

/* The chunk behind the cursor goes to the drain as it is. Returns the cells that became ready. */
uint32_t dft__thread_finish_chunk(dft__spool *spool, uint64_t cursor);

/* Counts an event that could not be kept. */
void dft__count_drop(dft__header *header);

uint32_t dft__thread_id(void);

#endif
