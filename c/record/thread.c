/* thread.c - what belongs to one thread.
 * SPDX-License-Identifier: MIT */
#include "thread.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/signals.h"
#include "spool/clock.h"

__thread dft__own dft__self = {.session = UINT64_MAX};

uint32_t dft__thread_id(void) {
  return (uint32_t)syscall(SYS_gettid);
}

static void set_first(_Atomic uint64_t *field, uint64_t value) {
  uint64_t none = 0;
  atomic_compare_exchange_strong(field, &none, value);
}

void dft__count_drop(dft__header *header) {
  uint64_t now = dft__clock_ticks();
  atomic_fetch_add(&header->dropped, 1);
  set_first(&header->dropped_first, now);
  DFT__SET(header->dropped_last, now);
}

dft__spool *dft__thread_session_spool(const dft__own *own) {
  dft__spool *spool = dft__thread_spool();
  return spool == dft__session.spool && spool->base == own->base ? spool : NULL;
}

/* ---- Ids ---------------------------------------------------------------------------------------------------------- */

uint64_t dft__thread_next_block(const dft__own *own) {
  _Atomic uint64_t *next = &own->thread->next_id;
  for (;;) {
    uint64_t id = DFT__GET(*next);
    if (DFT__LIKELY(id % DFT__ID_BLOCK != 0)) {
      if (DFT__LIKELY(dft__own_cas64(next, id, id + 1))) return id;
    } else {
      uint64_t block = atomic_fetch_add(&((dft__header *)own->base)->next_id, DFT__ID_BLOCK);
      if (dft__own_cas64(next, id, block + 2)) return block + 1;
    }
  }
}

/* ---- Areas -------------------------------------------------------------------------------------------------------- */

/* Moves an area to a chunk with at least `bytes`; `used` bytes go along. The old one stays until the thread ends: an
 * interrupted call may still write there. */
static int move_blocked(const dft__own *own, _Atomic uint64_t *area, uint32_t unit, uint64_t used, uint64_t bytes) {
  dft__spool *spool = dft__thread_session_spool(own);
  uint64_t old = DFT__GET(*area);
  uint32_t log = DFT__CHUNK_LOG_MIN + 1;
  dft__chunk *chunk;
  char *fresh;
  if (!spool) return 0;
  while (log <= DFT__CHUNK_LOG_MAX && (UINT64_C(1) << log) - DFT__CELL < bytes) log++;
  if (log > DFT__CHUNK_LOG_MAX) return 0;
  chunk = dft__chunk_take(spool, log, DFT__USE_STACK, 1);
  if (!chunk) return 0;
  fresh = (char *)chunk + DFT__CELL;
  memcpy(fresh, own->base + dft__area_offset(old), used);
  memset(fresh + used, 0, ((size_t)1 << log) - DFT__CELL - used);
  if (!dft__own_cas64(area, old,
                      dft__area((uint64_t)(fresh - own->base), (uint32_t)(((1u << log) - DFT__CELL) / unit)))) {
    dft__chunk_give(spool, chunk); /* a signal handler was here first */
    return 1;
  }
  if (dft__area_offset(old) % (1u << DFT__CHUNK_LOG_MIN) == DFT__CELL) {
    dft__chunk *outgrown = (dft__chunk *)(own->base + dft__area_offset(old) - DFT__CELL);
    DFT__SET(outgrown->next, DFT__GET(own->thread->old_stacks));
    DFT__SET(own->thread->old_stacks, dft__chunk_page(spool, outgrown));
  }
  return 1;
}

/* Copying takes long: handlers that jump away in the middle, time and again, would use up all chunks. */
static int move_area(const dft__own *own, _Atomic uint64_t *area, uint32_t unit, uint64_t used, uint64_t bytes) {
  uint64_t before = dft__signals_block();
  int is_done = move_blocked(own, area, unit, used, bytes);
  dft__signals_restore(before);
  return is_done;
}

int dft__thread_grow_frames(const dft__own *own) {
  uint64_t bytes = (uint64_t)dft__area_room(DFT__GET(own->thread->frames)) * sizeof(dft__frame);
  return move_area(own, &own->thread->frames, sizeof(dft__frame), bytes, 2 * bytes);
}

int dft__thread_grow_args(const dft__own *own, uint32_t bytes) {
  uint64_t used = DFT__GET(own->thread->args_used);
  uint64_t room = dft__area_room(DFT__GET(own->thread->args));
  if (used > room) used = room;
  return move_area(own, &own->thread->args, 1, used, used + bytes > 2 * room ? used + bytes : 2 * room);
}

int dft__thread_grow_lanes(const dft__own *own) {
  uint64_t used = (uint64_t)dft__area_room(DFT__GET(own->thread->lanes)) * sizeof(dft__lane);
  return move_area(own, &own->thread->lanes, sizeof(dft__lane), used, 2 * used);
}

/* ---- Records ------------------------------------------------------------------------------------------------------ */

/* What the functions of one reservation share. */
typedef struct reservation {
  dft__spool *spool;
  uint64_t signals; /* blocked before */
  uint32_t ready;   /* cells for the drain */
} reservation;

uint32_t dft__thread_finish_chunk(dft__spool *spool, uint64_t cursor) {
  uint32_t page = dft__cursor_page(cursor);
  uint32_t cells = dft__cells_of(dft__cursor_log(cursor));
  uint32_t end = dft__cursor_cell(cursor) < cells ? dft__cursor_cell(cursor) : cells;
  if (!page) return 0;
  dft__chunk_finish(spool, dft__chunk_at(spool, page), end);
  return end - 1;
}

/* 4 KiB, 16 KiB, then 64 KiB: thousands of short threads stay cheap. Thousands of long ones keep to smaller chunks. */
static uint32_t chunk_log(const dft__spool *spool, const dft__thread *thread, uint32_t cells) {
  uint32_t log = thread->chunks == 0   ? DFT__CHUNK_LOG_MIN
                 : thread->chunks == 1 ? DFT__CHUNK_LOG_MIDDLE
                                       : DFT__BLOCK_LOG;
  uint32_t usual = dft__chunk_usual_log(spool);
  if (log > usual) log = usual;
  while (dft__cells_of(log) < cells + 1) log++;
  return log;
}

/* The drain leaves chunks alone in which a thread that is busy may still finish a cell. While this call waits for room it
 * holds none, so unless it interrupted another one, it is not in the way: cells that jumps left behind are all abandoned. */
static dft__chunk *make_room(dft__thread *thread, uint32_t cells, const reservation *more) {
  uint32_t busy = DFT__GET(thread->busy);
  dft__chunk *chunk;
  if (!DFT__GET(thread->nested)) DFT__RELEASE(thread->busy, 0);
  chunk = dft__hooks.drain_make_room(more->spool, cells, more->signals);
  DFT__SET(thread->busy, busy);
  return chunk;
}

/* Whoever has a chunk fills it while others wait, and would be the first again if it took another one here. */
static dft__chunk *take_now(const dft__own *own, uint32_t cells, const reservation *more) {
  if (DFT__GET(more->spool->waiting)) return NULL;
  return dft__chunk_take(more->spool, chunk_log(more->spool, own->thread, cells), DFT__USE_RECORDS, 0);
}

static dft__chunk *as_own(const dft__own *own, dft__chunk *chunk, const reservation *more) {
  if (!chunk) return NULL;
  DFT__SET(chunk->tid, own->thread->tid);
  DFT__SET(chunk->thread, dft__chunk_page(more->spool, (dft__chunk *)((char *)own->thread - DFT__CELL)));
  return chunk;
}

#define NO_CHUNK dft__cursor(0, 0, 1) /* a cursor without a chunk, and so without room */

/* The drain can make room of what threads have filled, so a thread that must wait keeps nothing: when hundreds wait with a
 * full chunk each, there would be nothing to drain. */
static void hand_over(const dft__own *own, uint64_t full, reservation *more) {
  uint64_t now;
  while (dft__cursor_page(now = DFT__GET(own->thread->cursor)) == dft__cursor_page(full) && dft__cursor_page(full)) {
    if (!dft__own_cas64(&own->thread->cursor, now, NO_CHUNK)) continue;
    more->ready += dft__thread_finish_chunk(more->spool, full);
  }
  if (more->ready) dft__hooks.drain_notify(more->spool, more->ready, more->signals);
  more->ready = 0;
}

/* A record that fits no ordinary chunk gets one of its own. What the thread wrote before must come first, so its chunk is handed
 * over as it is. The huge one is FULL before it is written: the drain waits while the thread is busy. */
static dft__record *reserve_huge(const dft__own *own, uint32_t cells, uint32_t *gen, reservation *more) {
  dft__chunk *chunk;
  hand_over(own, DFT__GET(own->thread->cursor), more);
  chunk = take_now(own, cells, more);
  if (!chunk) chunk = make_room(own->thread, cells, more);
  if (!as_own(own, chunk, more)) return NULL;
  *gen = dft__status_gen(DFT__GET(chunk->status));
  dft__chunk_finish(more->spool, chunk, cells + 1);
  more->ready += cells;
  return (dft__record *)((char *)chunk + DFT__CELL);
}

/* Replaces a full chunk by another one; zero when there is none. */
static int change_chunk(const dft__own *own, uint64_t full, uint32_t cells, reservation *more) {
  dft__thread *thread = own->thread;
  dft__spool *spool = more->spool;
  dft__chunk *chunk = take_now(own, cells, more);
  uint64_t now;
  if (!chunk) {
    hand_over(own, full, more);
    full = NO_CHUNK;
    chunk = make_room(thread, cells, more);
  }
  if (!as_own(own, chunk, more)) return 0;
  while (dft__cursor_page(now = DFT__GET(thread->cursor)) == dft__cursor_page(full)) {
    if (dft__own_cas64(&thread->cursor, now,
                       dft__cursor(dft__chunk_page(spool, chunk), DFT__GET(chunk->size_log), 1))) {
      thread->chunks++;
      more->ready += dft__thread_finish_chunk(spool, full);
      return 1;
    }
  }
  dft__chunk_give(spool, chunk); /* a signal handler was here first */
  return 1;
}

static dft__record *reserve_next(const dft__own *own, uint64_t seen, uint32_t cells, uint32_t *gen, reservation *more) {
  dft__thread *thread = own->thread;
  for (;;) {
    uint32_t cell;
    if (dft__cursor_page(DFT__GET(thread->cursor)) == dft__cursor_page(seen) && !change_chunk(own, seen, cells, more)) {
      dft__own_cas64(&thread->cursor, seen + cells, seen); /* or its bits would overflow after many losses */
      return NULL;
    }
    seen = dft__own_add64(&thread->cursor, cells);
    cell = dft__cursor_cell(seen);
    if (cell + cells <= dft__cells_of(dft__cursor_log(seen))) {
      dft__chunk *chunk = (dft__chunk *)(own->base + ((uint64_t)dft__cursor_page(seen) << DFT__PAGE_LOG));
      *gen = dft__status_gen(DFT__GET(chunk->status));
      return (dft__record *)((char *)chunk + (size_t)cell * DFT__CELL);
    }
  }
}

int dft__thread_open_chunk(const dft__own *own) {
  reservation more = {.signals = dft__signals_block(), .spool = dft__session.spool};
  int is_open = own->base == more.spool->base && change_chunk(own, DFT__GET(own->thread->cursor), 1, &more);
  dft__signals_restore(more.signals);
  return is_open;
}

/* The gate closed during the call. While this thread waits, it is not in the way of the one that ends the process. */
static void await_exit(dft__thread *thread) {
  uint32_t busy = DFT__GET(thread->busy);
  if (!DFT__GET(thread->nested)) DFT__RELEASE(thread->busy, 0);
  dft__hooks.session_await_exit();
  DFT__SET(thread->busy, busy);
}

dft__record *dft__thread_reserve(const dft__own *own, uint64_t seen, uint32_t cells, uint32_t *gen) {
  int saved = errno;
  int cancel;
  dft__record *record = NULL;
  /* A handler that forks and records would change the session under our feet. */
  reservation more = {.signals = dft__signals_block(), .spool = dft__session.spool};
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  /* Else the trace has ended, or is another's. */
  if (own->session == (DFT__GET(*dft__gate_page()) & ~DFT__GATE_PAUSED) && own->base == more.spool->base) {
    dft__visit_tidy(more.signals);
    if (cells >= DFT__HUGE_CELLS) record = reserve_huge(own, cells, gen, &more);
    else record = reserve_next(own, seen, cells, gen, &more);
    /* An event that dft_stop overtook is not lost: it came after the trace. One that the end of the process overtook is not lost
     * either: its call does not return. */
    if (!record && DFT__GET(*dft__gate_page())) dft__count_drop((dft__header *)own->base);
  }
  if (more.ready) dft__hooks.drain_notify(more.spool, more.ready, more.signals);
  dft__signals_restore(more.signals);
  if (!record && !DFT__GET(*dft__gate_page())) await_exit(own->thread);
  pthread_setcancelstate(cancel, NULL);
  errno = saved;
  return record;
}
