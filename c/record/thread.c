/* thread.c - what belongs to one thread.
 * SPDX-License-Identifier: MIT */
#include "thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/signals.h"
#include "emit.h"
#include "spool/clock.h"

__thread dft__own dft__self = {.session = UINT64_MAX};

#define INTERRUPTED 4
/* Numbers of earlier spools: a call there may wait for a handler. Aligned as its elements are, which saves static TLS. */
static __thread __attribute__((aligned(2))) uint16_t interrupted[INTERRUPTED];
static __thread uint64_t always_blocked = UINT64_MAX; /* signals, whenever it was looked at */

static pthread_key_t exit_key;
static int has_exit_key;

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

/* ---- Joining and leaving ------------------------------------------------------------------------------------------- */

static void init_state(dft__spool *spool, dft__chunk *chunk, uint32_t tid) {
  dft__thread *thread = (dft__thread *)((char *)chunk + DFT__CELL);
  char *frames = (char *)(thread + 1);
  char *args = frames + DFT__THREAD_FRAMES * sizeof(dft__frame);
  memset(thread, 0, (1u << DFT__CHUNK_LOG_MIN) - DFT__CELL);
  DFT__SET(thread->frames, dft__area((uint64_t)(frames - spool->base), DFT__THREAD_FRAMES));
  DFT__SET(thread->args, dft__area((uint64_t)(args - spool->base), DFT__THREAD_ARGS));
  DFT__SET(thread->lanes, dft__area((uint64_t)((char *)thread->lane - spool->base), DFT__LANES));
  DFT__SET(thread->cursor, dft__cursor(0, 0, 1)); /* no chunk, and no room in it */
  thread->tid = tid;
  /* Only now is it a thread's state for those who look for one. */
  DFT__SET(chunk->tid, tid);
  DFT__RELEASE(chunk->use, DFT__USE_THREAD);
}

/* The name the program gave this thread, where it is not just the program's. */
static void name_thread(uint32_t tid, uint32_t pid) {
  char own[17] = "";
  char process[17] = "";
  char path[64];
  if (tid == pid) return; /* the opening lines have it */
  prctl(PR_GET_NAME, own);
  snprintf(path, sizeof path, "/proc/self/task/%u/comm", pid);
  dft__read_file(path, process, sizeof process);
  process[strcspn(process, "\n")] = '\0';
  if (!own[0] || strcmp(own, process) == 0) snprintf(own, sizeof own, "%u", tid);
  dft__emit_thread_name(&dft__self, tid, own, strlen(own));
}

/* The spool that `own` is of, while its session lasts; else NULL. That of another session is not looked into: whose it is may
 * change at any moment. */
static dft__spool *spool_of(const dft__own *own) {
  dft__spool *spool = dft__thread_spool();
  return spool == dft__session.spool && spool->base == own->base ? spool : NULL;
}

/* A handler has more signals blocked than the thread has at other times, or a stack of its own. */
static int is_in_handler(uint64_t blocked) {
  always_blocked &= blocked;
  return blocked != always_blocked || dft__signals_on_own_stack();
}

static void leave_joined(void) {
  if (dft__joined_spool) dft__spool_exit(dft__joined_spool);
  dft__joined_spool = NULL;
}

/* The handlers have returned. */
static void leave_interrupted(void) {
  for (int i = 0; i < INTERRUPTED && interrupted[i]; i++) {
    dft__spool_exit(dft__spool_numbered(interrupted[i]));
    interrupted[i] = 0;
  }
}

/* The thread is inside another spool now, and out of the one before; but not if this is a handler, which may have interrupted
 * a call there. Where that happens too often in turn, the spool is never used again. */
static void move_into(dft__spool *spool, uint64_t blocked) {
  if (is_in_handler(blocked)) {
    int i = 0;
    while (i < INTERRUPTED && interrupted[i]) i++;
    if (dft__joined_spool && i < INTERRUPTED) interrupted[i] = dft__joined_spool->number;
  } else {
    leave_interrupted();
    leave_joined();
  }
  dft__joined_spool = spool;
}

static int join(uint64_t session, uint64_t blocked) {
  dft__spool *spool = dft__session.spool;
  uint32_t tid = dft__thread_id();
  dft__chunk *chunk;
  if (!dft__spool_enter(spool)) return 0;
  chunk = dft__chunk_take(spool, DFT__CHUNK_LOG_MIN, DFT__USE_NONE, 1);
  if (!chunk) {
    dft__count_drop(spool->header);
    dft__spool_exit(spool);
    return 0;
  }
  init_state(spool, chunk, tid);
  dft__self.base = spool->base;
  dft__self.thread = (dft__thread *)((char *)chunk + DFT__CELL);
  atomic_signal_fence(memory_order_seq_cst);
  dft__self.session = session;
  move_into(spool, blocked);
  if (has_exit_key) pthread_setspecific(exit_key, &dft__self);
  name_thread(tid, spool->header->pid);
  return 1;
}

enum dft__readiness dft__thread_enter(void) {
  int saved = errno;
  int cancel;
  uint64_t gate = DFT__ACQUIRE(*dft__gate_page());
  uint64_t before;
  enum dft__readiness ready = DFT__OFF;
  if (gate && dft__self.session == (gate & ~DFT__GATE_PAUSED))
    return gate & DFT__GATE_PAUSED ? DFT__PAUSED : DFT__READY;
  before = dft__signals_block(); /* a handler in the middle of this could not record, and must not jump away */
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  if (!gate && dft__hooks.session_open_due()) gate = DFT__ACQUIRE(*dft__gate_page());
  if (gate && (dft__self.session == (gate & ~DFT__GATE_PAUSED) || join(gate & ~DFT__GATE_PAUSED, before))) {
    ready = gate & DFT__GATE_PAUSED ? DFT__PAUSED : DFT__READY;
  }
  pthread_setcancelstate(cancel, NULL);
  dft__signals_restore(before);
  errno = saved;
  return ready;
}

static void give_stacks(dft__spool *spool, dft__thread *thread, const dft__chunk *state) {
  uint32_t page = DFT__GET(thread->old_stacks);
  uint64_t areas[3] = {DFT__GET(thread->frames), DFT__GET(thread->args), DFT__GET(thread->lanes)};
  while (page) {
    dft__chunk *chunk = dft__chunk_at(spool, page);
    page = DFT__GET(chunk->next);
    dft__chunk_give(spool, chunk);
  }
  for (int i = 0; i < 3; i++) {
    /* Areas begin right behind a chunk's header, but for the first ones, which lie in the state itself. */
    dft__chunk *chunk = (dft__chunk *)(spool->base + dft__area_offset(areas[i]) - DFT__CELL);
    if (dft__area_offset(areas[i]) % (1u << DFT__CHUNK_LOG_MIN) == DFT__CELL && chunk != state)
      dft__chunk_give(spool, chunk);
  }
}

/* The chunk a thread leaves goes to the drain as it is. Returns the cells that became ready. */
static uint32_t finish_chunk(dft__spool *spool, uint64_t cursor) {
  uint32_t page = dft__cursor_page(cursor);
  uint32_t cells = dft__cells_of(dft__cursor_log(cursor));
  uint32_t end = dft__cursor_cell(cursor) < cells ? dft__cursor_cell(cursor) : cells;
  dft__chunk *chunk = dft__chunk_at(spool, page);
  uint64_t status;
  if (!page) return 0;
  status = DFT__GET(chunk->status);
  DFT__RELEASE(chunk->status, dft__status(dft__status_gen(status), DFT__FULL, end));
  return end - 1;
}

void dft__thread_leave(const dft__own *own) {
  dft__spool *spool = dft__session.spool;
  dft__chunk *state = (dft__chunk *)((char *)own->thread - DFT__CELL);
  dft__emit_open_regions(own);
  dft__hooks.drain_notify(spool, finish_chunk(spool, DFT__GET(own->thread->cursor)), UINT64_MAX);
  give_stacks(spool, own->thread, state);
  dft__chunk_give(spool, state);
}

/* Destructor of the key. A thread may record again afterwards, and then joins anew. */
static void leave(void *unused) {
  dft__own own = dft__self;
  uint64_t before = dft__signals_block();
  int saved = errno;
  (void)unused;
  if (own.session == (DFT__GET(*dft__gate_page()) & ~DFT__GATE_PAUSED) && spool_of(&own)) {
    dft__self.session = UINT64_MAX;
    dft__thread_leave(&own);
  }
  leave_interrupted();
  leave_joined();
  dft__signals_restore(before);
  errno = saved;
}

void dft__thread_prepare(void) {
  if (!has_exit_key) has_exit_key = pthread_key_create(&exit_key, leave) == 0;
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

/* Moves an area to a chunk with at least `bytes`; `used` bytes go along. The old one stays until the thread ends: whoever
 * was interrupted may still write there. */
static int move_blocked(const dft__own *own, _Atomic uint64_t *area, uint32_t unit, uint64_t used, uint64_t bytes) {
  dft__spool *spool = spool_of(own);
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

/* ---- Lanes -------------------------------------------------------------------------------------------------------- */

static dft__lane *lanes_of(const dft__own *own) {
  return (dft__lane *)(own->base + dft__area_offset(DFT__GET(own->thread->lanes)));
}

/* NULL: there is no room to remember it, and it serves one event only. */
static dft__lane *add_lane(const dft__own *own) {
  dft__thread *thread = own->thread;
  uint64_t used = thread->lane_count * sizeof(dft__lane);
  if (thread->lane_count == dft__area_room(DFT__GET(thread->lanes)) &&
      !move_area(own, &thread->lanes, sizeof(dft__lane), used, 2 * used))
    return NULL;
  return &lanes_of(own)[thread->lane_count++];
}

/* A lane is free when its last event ended before this one began. */
uint32_t dft__thread_lane(const dft__own *own, uint64_t start, uint64_t end) {
  dft__lane *lanes = lanes_of(own), *lane;
  uint64_t number;
  for (uint32_t i = 0; i < own->thread->lane_count; i++) {
    if (lanes[i].end > start) continue;
    lanes[i].end = end;
    return (uint32_t)lanes[i].number;
  }
  number = atomic_fetch_add(&((dft__header *)own->base)->next_lane, 1) + 1;
  if (number > 0xffff) return 0xffff;
  lane = add_lane(own);
  if (lane) *lane = (dft__lane){end, number};
  dft__emit_lane_name(own, (uint32_t)number);
  return (uint32_t)number;
}

/* ---- Records ------------------------------------------------------------------------------------------------------ */

/* What the functions of one reservation share. */
typedef struct reservation {
  dft__spool *spool;
  uint64_t signals; /* blocked before */
  uint32_t ready;   /* cells for the drain */
} reservation;

/* 4 KiB, 16 KiB, then 64 KiB: thousands of short threads stay cheap. */
static uint32_t chunk_log(const dft__thread *thread, uint32_t cells) {
  uint32_t log = thread->chunks == 0 ? DFT__CHUNK_LOG_MIN : thread->chunks == 1 ? 14 : DFT__BLOCK_LOG;
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

static dft__chunk *take_records(const dft__own *own, uint32_t cells, const reservation *more) {
  dft__spool *spool = more->spool;
  uint32_t log = chunk_log(own->thread, cells);
  dft__chunk *chunk = dft__chunk_take(spool, log, DFT__USE_RECORDS, log == DFT__CHUNK_LOG_MIN);
  if (!chunk) chunk = make_room(own->thread, cells, more);
  if (!chunk) return NULL;
  DFT__SET(chunk->tid, own->thread->tid);
  DFT__SET(chunk->thread, dft__chunk_page(spool, (dft__chunk *)((char *)own->thread - DFT__CELL)));
  return chunk;
}

/* A record that fits no ordinary chunk gets one of its own. It is FULL before it is written: the drain waits while the
 * thread is busy. */
static dft__record *reserve_huge(const dft__own *own, uint32_t cells, uint32_t *gen, reservation *more) {
  dft__chunk *chunk = take_records(own, cells, more);
  if (!chunk) return NULL;
  *gen = dft__status_gen(DFT__GET(chunk->status));
  DFT__RELEASE(chunk->status, dft__status(*gen, DFT__FULL, cells + 1));
  more->ready += cells;
  return (dft__record *)((char *)chunk + DFT__CELL);
}

/* Puts another chunk in the place of the one that is full; zero when there is none. */
static int change_chunk(const dft__own *own, uint64_t full, uint32_t cells, reservation *more) {
  dft__thread *thread = own->thread;
  dft__spool *spool = more->spool;
  dft__chunk *chunk = take_records(own, cells, more);
  uint64_t now;
  if (!chunk) return 0;
  while (dft__cursor_page(now = DFT__GET(thread->cursor)) == dft__cursor_page(full)) {
    if (dft__own_cas64(&thread->cursor, now,
                       dft__cursor(dft__chunk_page(spool, chunk), DFT__GET(chunk->size_log), 1))) {
      thread->chunks++;
      more->ready += finish_chunk(spool, full);
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

dft__record *dft__thread_reserve(const dft__own *own, uint64_t seen, uint32_t cells, uint32_t *gen) {
  int saved = errno;
  int cancel;
  dft__record *record = NULL;
  /* A handler that forks and records would change the session under our feet. */
  reservation more = {.signals = dft__signals_block(), .spool = dft__session.spool};
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  /* Else the trace has ended, or is another's. */
  if (own->session == (DFT__GET(*dft__gate_page()) & ~DFT__GATE_PAUSED) && own->base == more.spool->base) {
    if (interrupted[0] && !is_in_handler(more.signals)) leave_interrupted();
    if (cells >= DFT__HUGE_CELLS) record = reserve_huge(own, cells, gen, &more);
    else record = reserve_next(own, seen, cells, gen, &more);
    /* An event that dft_stop overtook is not lost: it came after the trace. */
    if (!record && DFT__GET(*dft__gate_page())) dft__count_drop((dft__header *)own->base);
  }
  if (more.ready) dft__hooks.drain_notify(more.spool, more.ready, more.signals);
  dft__signals_restore(more.signals);
  pthread_setcancelstate(cancel, NULL);
  errno = saved;
  return record;
}
