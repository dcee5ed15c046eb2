/* joining.c - how threads join a session, and leave it when they end.
 * SPDX-License-Identifier: MIT */
#include "joining.h"

#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>

#include "base/identity.h"
#include "base/signals.h"
#include "codec/number.h"
#include "emit.h"
#include "imbalance.h"
#include "region.h"

/* A thread has room for so many keys. For the others the C library allocates memory, which a signal handler that interrupted
 * malloc must not: a thread that joins in one is not noticed when it ends, and its state stays until the trace does. */
#define FIRST_KEYS 32

static pthread_key_t exit_key;
static int has_exit_key;

/* ---- Joining -------------------------------------------------------------------------------------------------------- */

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
  /* From here on, walks over the chunks see it as a thread's state. */
  DFT__SET(chunk->tid, tid);
  DFT__RELEASE(chunk->use, DFT__USE_THREAD);
}

/* What a thread is called that has no name of its own: by its number in its OpenMP team, else by its id. */
static void put_number(char *name, uint32_t tid, uint64_t blocked) {
  static const char prefix[] = "OpenMP ";
  uint32_t number = dft__hooks.team_number(blocked);
  if (number) memcpy(name, prefix, sizeof prefix - 1);
  *dft__number_uint(number ? name + sizeof prefix - 1 : name, number ? number : tid) = '\0';
}

/* Newer versions of LLVM's OpenMP, and Intel's, give this name to all their threads. */
static int is_own_name(const char *name, const char *process) {
  return name[0] && strcmp(name, process) != 0 && strcmp(name, "openmp_worker") != 0;
}

/* The name the program gave this thread, where it is not just the program's. */
static void name_thread(uint32_t tid, uint32_t pid, uint64_t blocked) {
  char name[DFT__NUMBER_ROOM] = "";
  char process[17] = "";
  char path[64] = "/proc/self/task/";
  if (tid == pid) return;                          /* the opening lines have it */
  if (!dft__thread_open_chunk(&dft__self)) return; /* no event of the program, so it does not count as lost */
  prctl(PR_GET_NAME, name);
  memcpy(dft__number_uint(path + strlen(path), pid), "/comm", sizeof "/comm"); /* printf takes 2 KiB of the stack */
  dft__read_file(path, process, sizeof process);
  process[strcspn(process, "\n")] = '\0';
  if (!is_own_name(name, process)) put_number(name, tid, blocked);
  dft__emit_thread_name(&dft__self, tid, name, strlen(name));
}

static int join(uint64_t session, uint64_t blocked, uint32_t events) {
  dft__spool *spool = dft__session.spool;
  uint32_t tid = dft__thread_id();
  dft__chunk *chunk;
  if (!dft__spool_enter(spool)) return 0;
  chunk = dft__chunk_take(spool, DFT__CHUNK_LOG_MIN, DFT__USE_NONE, 1);
  if (!chunk) {
    if (events) dft__count_drop(spool->header);
    dft__spool_exit(spool);
    return 0;
  }
  init_state(spool, chunk, tid);
  dft__self.base = spool->base;
  dft__self.thread = (dft__thread *)((char *)chunk + DFT__CELL);
  atomic_signal_fence(memory_order_seq_cst);
  dft__self.session = session;
  dft__visit_move(spool, blocked);
  if (has_exit_key && (exit_key < FIRST_KEYS || !dft__signals_may_be_handler(blocked)))
    pthread_setspecific(exit_key, &dft__self);
  name_thread(tid, spool->header->pid, blocked);
  dft__hooks.drain_notify(spool, 0, blocked);
  return 1;
}

enum dft__readiness dft__thread_enter(uint32_t events) {
  int saved = errno;
  int cancel;
  uint64_t gate = DFT__ACQUIRE(*dft__gate_page());
  uint64_t before;
  enum dft__readiness ready = DFT__OFF;
  if (gate && dft__self.session == (gate & ~DFT__GATE_PAUSED))
    return gate & DFT__GATE_PAUSED ? DFT__PAUSED : DFT__READY;
  before = dft__signals_block(); /* a handler in the middle of this could not record, and must not jump away */
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  if (!gate && dft__hooks.session_open_due(before)) gate = DFT__ACQUIRE(*dft__gate_page());
  if (gate && (dft__self.session == (gate & ~DFT__GATE_PAUSED) || join(gate & ~DFT__GATE_PAUSED, before, events))) {
    ready = gate & DFT__GATE_PAUSED ? DFT__PAUSED : DFT__READY;
  } else if (gate) {
    dft__hooks.session_await_exit(); /* no room, or the session has been completed since */
  }
  pthread_setcancelstate(cancel, NULL);
  dft__signals_restore(before);
  errno = saved;
  return ready;
}

/* ---- Leaving -------------------------------------------------------------------------------------------------------- */

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

void dft__thread_leave(const dft__own *own) {
  dft__spool *spool = dft__session.spool;
  dft__chunk *state = (dft__chunk *)((char *)own->thread - DFT__CELL);
  dft__region_record_open(own);
  dft__hooks.drain_notify(spool, dft__thread_finish_chunk(spool, DFT__GET(own->thread->cursor)), UINT64_MAX);
  give_stacks(spool, own->thread, state);
  dft__chunk_give(spool, state);
}

/* Destructor of the key. A thread may record again afterwards, and then joins anew. */
static void leave(void *unused) {
  dft__own own = dft__self;
  uint64_t before = dft__signals_block();
  int saved = errno;
  (void)unused;
  if (own.session == (DFT__GET(*dft__gate_page()) & ~DFT__GATE_PAUSED) && dft__thread_session_spool(&own)) {
    dft__self.session = UINT64_MAX;
    dft__imbalance_note_open(&own);
    dft__thread_leave(&own);
  }
  dft__visit_end();
  dft__signals_restore(before);
  errno = saved;
}

/* Early, to get one of the first keys; a session that is opened by another library's constructor comes even earlier. */
__attribute__((constructor)) void dft__thread_prepare(void) {
  if (!has_exit_key) has_exit_key = pthread_key_create(&exit_key, leave) == 0;
}
