/* drain.c - from the spool to the sinks, in the living process.
 *
 * A thread that drains takes a workspace, gives its batch the next number and chunks that no other batch has (create lock),
 * encodes, and leaves the workspace READY. Whoever gets the append lock appends the READY workspaces in the order of their
 * numbers; nobody waits for a turn. All of it runs with signals blocked, so no signal handler meets a lock that its own
 * thread holds.
 * SPDX-License-Identifier: MIT */
#include "drain.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/aside.h"
#include "base/config.h"
#include "base/log.h"
#include "base/signals.h"
#include "codec/gzip.h"
#include "definition.h"
#include "feed.h"
#include "record/thread.h"
#include "spool/clock.h"
#include "spool/commit.h"
#include "spool/ownership.h"
#include "waiters.h"

#define WORKSPACES 4
#define PRESSED_SHARE 4 /* when this part of the spool waits to be written, room is short */
#define PAUSE_LEAST_NS UINT64_C(100000)
#define RETRY_NS UINT64_C(1000000000) /* pause after a failed append */
#define TAKEN_RETRY_NS UINT64_C(10000000)
#define TAKEN_PAUSE_NS UINT64_C(5000000)
#define TAKEN_WAIT_NS UINT64_C(10000000000) /* that the end waits for another process that recovers the trace */
#define STACK_BYTES ((size_t)512 << 10)

#define APPEND_PAUSE_NS 20000        /* between looks at a batch that must be appended before others begin */
#define END_NS UINT64_C(10000000000) /* that the end waits for producers */
#define END_TRIES 100
#define DESCRIPTORS_MOST 65536 /* closed one by one where the kernel cannot close a range */
#define RETRY_AT_ONCE 1        /* in retry_ns: a time that has passed */
#define ON_FULL_WAIT 2         /* DFTRACER_ON_FULL=wait, in the order of its choices */

enum workspace_state { IDLE = 0, BUSY = 1, READY = 2 };
enum thread_state { NO_THREAD = 0, THREAD_BEING_MADE = 1, THREAD_RUNS = 2, THREAD_FAILED = 3 };

static struct {
  _Atomic(dft__workspace *) workspaces[WORKSPACES];
  _Atomic uint32_t create_lock;
  _Atomic uint32_t append_lock;
  _Atomic uint64_t next_seq;  /* of the next batch; guarded by the create lock */
  _Atomic uint64_t turn;      /* the number whose turn it is to be appended */
  _Atomic uint32_t in_flight; /* batches created and not yet appended */
  _Atomic uint64_t retry_ns;  /* nonzero: the output failed; not before then */
  _Atomic uint32_t has_begun;
  _Atomic int64_t ready_cells;
  /* the thread */
  _Atomic uint32_t thread_state; /* enum thread_state */
  _Atomic uint32_t wake;         /* futex: counts reasons to look */
  pthread_t thread;
  uint64_t cpu_before_ns;                /* of the threads of earlier images */
  _Atomic uintptr_t self;                /* the same, from when it runs */
  void (*when_idle)(const char *folder); /* called once, when there is nothing else to do; NULL: nothing */
  /* kept between sessions: producers of the last one may still be on their way out */
  _Atomic uint32_t is_ending; /* nobody else begins a batch */
  _Atomic uint32_t helpers;   /* threads that are at a batch */
  dft__outputs outputs;
} drain;

static DFT__LARGE dft__queue queue; /* guarded by the create lock */

/* ---- Locks and waiting ----------------------------------------------------------------------------------------------- */

static int try_lock(_Atomic uint32_t *lock) {
  return !DFT__GET(*lock) && !atomic_exchange_explicit(lock, 1, memory_order_acquire);
}

static void unlock(_Atomic uint32_t *lock) {
  DFT__RELEASE(*lock, 0);
}

static void wait_ns(uint64_t ns) {
  struct timespec time = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
  syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL);
}

static void wake_thread(void) {
  atomic_fetch_add(&drain.wake, 1);
  syscall(SYS_futex, &drain.wake, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* ---- Who is at work here ---------------------------------------------------------------------------------------------- */

/* dft__drain_end sets is_ending first and then waits for helpers. */
int dft__drain_enter(const dft__spool *spool) {
  atomic_fetch_add(&drain.helpers, 1);
  return !atomic_load(&drain.is_ending) && drain.outputs.spool == spool;
}

void dft__drain_leave(void) {
  atomic_fetch_sub(&drain.helpers, 1);
}

/* ---- One batch ---------------------------------------------------------------------------------------------------- */

static dft__workspace *take_workspace(void) {
  for (int i = 0; i < WORKSPACES; i++) {
    dft__workspace *workspace = atomic_load(&drain.workspaces[i]);
    uint32_t idle = IDLE;
    if (!workspace) {
      dft__workspace *none = NULL;
      workspace = dft__workspace_make(&drain.outputs);
      if (!workspace) return NULL;
      if (!atomic_compare_exchange_strong(&drain.workspaces[i], &none, workspace)) {
        dft__workspace_free(workspace);
        workspace = none;
      }
    }
    if (atomic_compare_exchange_strong(&workspace->state, &idle, BUSY)) return workspace;
  }
  return NULL;
}

/* Whether somebody else recovers the trace, or has published it. This is no failure: others follow it. */
static int is_taken(void) {
  const dft__header *header = drain.outputs.spool->header;
  return atomic_load(&header->is_taken) || atomic_load(&header->takings) != drain.outputs.takings ||
         dft__outputs_claim(&drain.outputs) != DFT__CLAIM_HELD;
}

static int is_being_taken(void) {
  return dft__ownership_is_lost(drain.outputs.spool) || dft__outputs_claim(&drain.outputs) == DFT__CLAIM_MARKED;
}

static void note_failure(dft_status status) {
  if (is_taken()) {
    atomic_store(&drain.retry_ns, dft__clock_ns() + TAKEN_RETRY_NS);
    return;
  }
  dft__waiters_note_failure();
  atomic_store(&drain.retry_ns, dft__clock_ns() + RETRY_NS);
  dft__log(DFT__LOG_SINK, DFT__LOG_ERROR,
           "cannot write the trace to %s: %s; events wait in the spool, and writing is retried",
           drain.outputs.list[0].path, dft_status_text(status));
}

static int64_t claimed_cells(const dft_batch *batch) {
  int64_t cells = 0;
  for (uint32_t i = 0; i < batch->chunk_count; i++) cells += batch->chunks[i].end - batch->chunks[i].start;
  return cells;
}

/* With the append lock. A batch that comes after a failure gives back what it claimed. */
static void append(dft__workspace *workspace) {
  int64_t cells = claimed_cells(&workspace->batch);
  dft_status status = dft__outputs_append(&drain.outputs, workspace);
  if (status == DFT_OK) {
    int64_t left = atomic_fetch_sub(&drain.ready_cells, cells) - cells;
    dft__waiters_note_append((uint64_t)cells, left <= 0);
    dft__waiters_call();
  } else if (!DFT__GET(drain.retry_ns)) {
    note_failure(status);
  }
}

static dft__workspace *ready_workspace(void) {
  for (int i = 0; i < WORKSPACES; i++) {
    dft__workspace *workspace = atomic_load(&drain.workspaces[i]);
    if (workspace && DFT__ACQUIRE(workspace->state) == READY && DFT__GET(workspace->seq) == DFT__GET(drain.turn))
      return workspace;
  }
  return NULL;
}

/* Looks again after unlocking. Another thread may have left its batch READY while the lock was held, and gone: nobody else
 * would append it. */
static void append_ready(void) {
  while (ready_workspace() && try_lock(&drain.append_lock)) {
    dft__workspace *workspace;
    while ((workspace = ready_workspace()) != NULL) {
      append(workspace);
      atomic_fetch_add(&drain.turn, 1);
      DFT__RELEASE(workspace->state, IDLE);
      atomic_fetch_sub(&drain.in_flight, 1);
    }
    unlock(&drain.append_lock);
  }
}

/* Another process published the trace so far, because it was told that this one is dead. What it left is another trace. */
static void begin_again(void) {
  dft__spool *spool = drain.outputs.spool;
  uint64_t offset = 0;
  int64_t cells = 0;
  dft__chunk *chunk;
  if (dft__outputs_claim(&drain.outputs) == DFT__CLAIM_GONE) dft__ownership_renew(spool);
  dft__outputs_restart(&drain.outputs);
  atomic_store(&drain.has_begun, 0);
  while ((chunk = dft__chunk_walk(spool, &offset)) != NULL) {
    uint64_t status = DFT__ACQUIRE(chunk->status);
    uint32_t consumed = DFT__GET(chunk->consumed);
    if (DFT__GET(chunk->use) != DFT__USE_RECORDS || dft__status_state(status) != DFT__FULL) continue;
    if (consumed < dft__status_end(status)) cells += dft__status_end(status) - consumed;
    else dft__chunk_give(spool, chunk);
  }
  atomic_store(&drain.ready_cells, cells);
  dft__log(DFT__LOG_TAKEN, DFT__LOG_WARN,
           "another process has published the trace in %s so far (dftracer recover --lost); what follows goes into "
           "another file",
           spool->header->folder);
}

/* After a failure everything starts again from the last commit, once nothing is on its way any more. Zero: not now. */
static int start_again(void) {
  uint64_t retry = DFT__GET(drain.retry_ns);
  if (!retry) return 1;
  if (dft__clock_ns() < retry || DFT__GET(drain.in_flight)) return 0;
  if (is_being_taken()) {
    note_failure(DFT_EBUSY);
    return 0;
  }
  if (is_taken()) begin_again();
  atomic_store(&drain.retry_ns, 0);
  atomic_store(&drain.next_seq, dft__commit_current(drain.outputs.spool)->seq + 1);
  atomic_store(&drain.turn, DFT__GET(drain.next_seq));
  dft__queue_forget(&queue);
  return 1;
}

static int is_output_usable(void) {
  if (!DFT__GET(drain.retry_ns) && is_taken()) {
    note_failure(DFT_EBUSY);
    return 0;
  }
  if (!start_again()) return 0;
  if (!drain.outputs.is_open || drain.outputs.has_failed) {
    dft_status status = dft__outputs_open(&drain.outputs);
    if (status != DFT_OK) {
      note_failure(status);
      return 0;
    }
  }
  return 1;
}

static int is_pressed(uint64_t least) {
  int64_t most = (int64_t)(drain.outputs.spool->header->limit_bytes / DFT__CELL / PRESSED_SHARE);
  return least < DFT__BATCH_CELLS || atomic_load(&drain.ready_cells) > most;
}

/* With the create lock. Nonzero when the lock must be kept until the batch is appended: the opening comes before everything
 * else. */
static int create(dft__workspace *workspace, uint32_t flags, uint64_t least, int *has_work) {
  uint64_t seq = DFT__GET(drain.next_seq);
  dft_batch *batch = &workspace->batch;
  uint64_t cells;
  if (seq == 1) flags |= DFT__BATCH_FIRST;
  if (is_pressed(least)) flags |= DFT__BATCH_PRESSED;
  dft__batch_begin(batch, drain.outputs.spool, seq, flags);
  cells = dft__batch_claim(batch, &queue, drain.outputs.batch_text);
  /* A full list is work however little its chunks hold: short threads leave thousands of them. */
  *has_work = cells >= least || batch->is_large || flags & DFT__BATCH_FINAL;
  if (!*has_work) {
    dft__batch_unclaim(batch);
    dft__queue_forget(&queue);
    return 0;
  }
  dft__clock_settle(&batch->clock);
  atomic_store(&drain.next_seq, seq + 1);
  atomic_store(&drain.has_begun, 1);
  atomic_fetch_add(&drain.in_flight, 1);
  dft__definition_take(batch);
  return (flags & DFT__BATCH_FIRST) != 0;
}

static int drain_batch(uint32_t flags, uint64_t least) {
  dft__workspace *workspace = take_workspace();
  int has_work = 0;
  int is_exclusive = 0;
  if (!workspace) return 0;
  if (!try_lock(&drain.create_lock)) {
    DFT__RELEASE(workspace->state, IDLE);
    return 0;
  }
  if (is_output_usable()) is_exclusive = create(workspace, flags, least, &has_work);
  if (!has_work) {
    DFT__RELEASE(workspace->state, IDLE);
    unlock(&drain.create_lock);
    return 0;
  }
  if (!is_exclusive) unlock(&drain.create_lock);
  dft__outputs_encode(&drain.outputs, workspace);
  DFT__SET(workspace->seq, workspace->batch.seq);
  DFT__RELEASE(workspace->state, READY);
  do append_ready();
  while (is_exclusive && DFT__GET(drain.in_flight) && (wait_ns(APPEND_PAUSE_NS), 1));
  if (is_exclusive) unlock(&drain.create_lock);
  return 1;
}

/* Drains one batch of at least so many cells. Zero when there was nothing to do, or it could not be done now. Signals are
 * blocked. */
static int drain_once(uint32_t flags, uint64_t least) {
  int has_worked = 0;
  atomic_fetch_add(&drain.helpers, 1); /* first: dft__drain_end sets is_ending, then waits for this */
  if (flags & DFT__BATCH_FINAL || !atomic_load(&drain.is_ending)) has_worked = drain_batch(flags, least);
  atomic_fetch_sub(&drain.helpers, 1);
  return has_worked;
}

/* The same for a producer, whose stack may be small. */
typedef struct assistance {
  uint64_t least;
  int has_worked;
} assistance;

static void assist_aside(void *assistance_in_hand) {
  assistance *own = assistance_in_hand;
  own->has_worked = drain_once(0, own->least);
}

static int assist(uint64_t least) {
  assistance own = {.least = least};
  return dft__aside_try(assist_aside, &own) && own.has_worked;
}

static int can_assist(uint64_t signals) {
  return drain.outputs.can_assist && !(drain.outputs.is_outside && dft__signals_may_be_handler(signals));
}

/* ---- The thread --------------------------------------------------------------------------------------------------- */

/* Gives the thread an empty descriptor table of its own. So it takes no number that the application expects, and keeps none of
 * its pipes open. The first three numbers stay taken: what a library says on stderr must not get into the trace. */
static void leave_descriptors(void) {
#ifndef DFT__THREAD_SANITIZER /* which takes the same number for the same file, whatever the thread */
  int is_own = 0;
#ifdef SYS_close_range
  is_own = syscall(SYS_close_range, 0, UINT_MAX, CLOSE_RANGE_UNSHARE) == 0;
#endif
  if (!is_own && unshare(CLONE_FILES) == 0) {
    is_own = 1;
    for (int fd = 0; fd < DESCRIPTORS_MOST; fd++) close(fd);
  }
  for (int fd = 0; is_own && fd <= STDERR_FILENO; fd++) syscall(SYS_openat, AT_FDCWD, "/", O_PATH | O_CLOEXEC);
#endif
}

static void prepare_spool(void) {
  dft__spool_prepare(drain.outputs.spool);
  dft__waiters_note_growth(drain.outputs.spool);
}

static int has_enough(void) {
  return atomic_load(&drain.ready_cells) >= DFT__BATCH_CELLS;
}

static void write_ready(void) {
  prepare_spool();
  while (has_enough() && !atomic_load(&drain.is_ending) && drain_once(0, DFT__BATCH_CELLS)) prepare_spool();
  append_ready();
}

int dft__drain_serve(void) {
  write_ready();
  return dft__drain_is_ending();
}

static void note_cpu(void) {
  DFT__SET(drain.outputs.spool->header->drain_cpu_ns, drain.cpu_before_ns + dft__clock_read(CLOCK_THREAD_CPUTIME_ID));
}

static void *run(void *unused) {
  int has_idled = !drain.when_idle;
  (void)unused;
  drain.cpu_before_ns = DFT__GET(drain.outputs.spool->header->drain_cpu_ns);
  atomic_store(&drain.self, (uintptr_t)pthread_self());
  pthread_setname_np(pthread_self(), "dftracer");
  dft__hush++;
  dft__log_defer();
  leave_descriptors();
  if (drain.outputs.spool->header->compress) dft__gzip_load_aside();
  while (!atomic_load(&drain.is_ending)) {
    uint32_t seen = atomic_load(&drain.wake);
    struct timespec retry = {1, 0};
    int is_failing;
    write_ready();
    if (!has_idled && !atomic_load(&drain.is_ending)) {
      has_idled = 1;
      drain.when_idle(drain.outputs.spool->header->folder);
    }
    is_failing = has_enough();
    note_cpu();
    syscall(SYS_futex, &drain.wake, FUTEX_WAIT_PRIVATE, seen, is_failing ? &retry : NULL, NULL, 0);
  }
  note_cpu();
  return NULL;
}

static void make_thread_aside(void *unused) {
  pthread_attr_t attributes;
  int error;
  (void)unused;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  error = pthread_create(&drain.thread, &attributes, run, NULL);
  if (error) error = pthread_create(&drain.thread, NULL, run, NULL);
  pthread_attr_destroy(&attributes);
  atomic_store(&drain.thread_state, error ? THREAD_FAILED : THREAD_RUNS);
}

/* Signals are blocked: a handler might jump away, and dft_stop waits for the state. */
static void make_thread(uint64_t signals) {
  uint32_t none = NO_THREAD;
  if (dft__signals_may_be_handler(signals)) return; /* try again later: making a thread allocates memory */
  if (!atomic_compare_exchange_strong(&drain.thread_state, &none, THREAD_BEING_MADE)) return;
  dft__aside_run(make_thread_aside, NULL);
}

void dft__drain_make_thread(uint64_t signals) {
  if (DFT__GET(drain.thread_state) == NO_THREAD) make_thread(signals);
}

static int is_waiting_mode(void) {
  return dft__config_number(DFT__ON_FULL) == ON_FULL_WAIT;
}

static void notify(uint32_t cells, uint64_t signals) {
  int64_t before = atomic_fetch_add(&drain.ready_cells, cells);
  if (is_waiting_mode()) dft__drain_make_thread(signals);
  /* A thread that joins brings no cells, and makes no thread: its first event may be a call of the allocator itself. */
  if (!cells || before + cells < DFT__BATCH_CELLS) return;
  if (DFT__GET(drain.thread_state) == NO_THREAD) make_thread(signals);
  else if (before < DFT__BATCH_CELLS || before / DFT__BATCH_CELLS != (before + cells) / DFT__BATCH_CELLS) wake_thread();
}

void dft__drain_notify(const dft__spool *spool, uint32_t cells, uint64_t signals) {
  if (dft__drain_enter(spool)) {
    dft__waiters_note_growth(spool);
    notify(cells, signals);
  }
  dft__drain_leave();
}

int dft__drain_is_ending(void) {
  return (int)atomic_load(&drain.is_ending);
}

int dft__drain_has_begun(void) {
  return (int)atomic_load(&drain.has_begun);
}

/* ---- For producers (room.c) ------------------------------------------------------------------------------------------ */

void dft__drain_wake(void) {
  wake_thread();
}

/* DFTRACER_ON_FULL=wait: producers leave all work to the thread, which runs. */
static int does_all(void) {
  return is_waiting_mode() && DFT__GET(drain.thread_state) == THREAD_RUNS && !atomic_load(&drain.is_ending);
}

int dft__drain_ask_growth(dft__spool *spool) {
  int is_ours = dft__drain_enter(spool) && does_all() && atomic_load(&drain.self) != (uintptr_t)pthread_self();
  if (is_ours) wake_thread();
  dft__drain_leave();
  return is_ours;
}

int dft__drain_assist(uint64_t least, uint64_t signals) {
  if (can_assist(signals) && !does_all()) return assist(least);
  wake_thread();
  return 0;
}

uint32_t dft__drain_in_flight(void) {
  return DFT__GET(drain.in_flight);
}

int dft__drain_is_idle(void) {
  return atomic_load(&drain.ready_cells) <= 0 && !DFT__GET(drain.in_flight);
}

/* ---- Begin and end -------------------------------------------------------------------------------------------------- */

void dft__drain_disown(void) {
  atomic_store(&drain.is_ending, 1);
  atomic_store(&drain.thread_state, THREAD_FAILED);
}

static void clear_session(void) {
  dft__waiters_clear();
  memset(&drain, 0, (size_t)((char *)&drain.is_ending - (char *)&drain));
}

void dft__drain_forget(void) {
  clear_session();
  atomic_store(&drain.helpers, 0);
}

dft_status dft__drain_begin(dft__spool *spool, void (*when_idle)(const char *folder),
                            int (*renew_claim)(const dft__spool *spool)) {
  uint64_t written = dft__commit_current(spool)->seq;
  dft_status status;
  clear_session();
  dft__queue_forget(&queue);
  drain.when_idle = when_idle;
  status = dft__outputs_prepare(&drain.outputs, spool);
  drain.outputs.renew_claim = renew_claim;
  atomic_store(&drain.next_seq, written + 1);
  atomic_store(&drain.turn, written + 1);
  atomic_store(&drain.has_begun, written != 0);
  atomic_store(&drain.is_ending, 0);
  return status;
}

/* Where there is no thread, none can be made any more: nobody would join it. */
static void end_thread(void) {
  uint32_t state = NO_THREAD;
  atomic_store(&drain.is_ending, 1);
  while (!atomic_compare_exchange_strong(&drain.thread_state, &state, THREAD_FAILED) && state == THREAD_BEING_MADE) {
    state = NO_THREAD;
    sched_yield();
  }
  if (state != THREAD_RUNS) return;
  wake_thread();
  pthread_join(drain.thread, NULL);
}

/* Waits for producers that are still at a batch. Zero when a slow disk keeps one of them too long. */
static int await_helpers(void) {
  for (uint64_t deadline = dft__clock_ns() + END_NS; dft__clock_ns() < deadline;) {
    if (!atomic_load(&drain.helpers) && !DFT__GET(drain.in_flight)) return 1;
    append_ready();
    wait_ns(PAUSE_LEAST_NS);
  }
  return 0;
}

/* Nonzero when the trace is whole, or empty. From then on no other process takes it. */
static int write_rest(void) {
  dft__spool *spool = drain.outputs.spool;
  uint64_t deadline = dft__clock_ns() + TAKEN_WAIT_NS;
  while (is_being_taken() && dft__clock_ns() < deadline) wait_ns(TAKEN_PAUSE_NS);
  if (is_being_taken()) return 0;
  if (is_taken()) atomic_store(&drain.retry_ns, RETRY_AT_ONCE);
  else atomic_store(&drain.retry_ns, DFT__GET(drain.retry_ns) ? RETRY_AT_ONCE : 0);
  if (!start_again()) return 0;
  /* A trace without events of the program leaves no file. */
  while (DFT__GET(drain.has_begun) || dft__feed_has_events(spool)) {
    if (!drain_once(DFT__BATCH_FINAL, 0)) return 0;
    if (dft__commit_current(spool)->complete) break;
  }
  if (dft__outputs_claim(&drain.outputs) == DFT__CLAIM_HELD && dft__ownership_enter(spool, drain.outputs.takings))
    return 1;
  while (is_being_taken() && dft__clock_ns() < deadline) wait_ns(TAKEN_PAUSE_NS);
  return 0;
}

dft_status dft__drain_end(int *is_complete) {
  uint64_t before = dft__signals_block();
  dft_status status = DFT_OK;
  int is_alone;
  end_thread();
  is_alone = await_helpers();
  for (int tries = 0; tries < END_TRIES; tries++) { /* again if the trace was taken meanwhile */
    *is_complete = write_rest();
    if (*is_complete || !is_taken() || is_being_taken()) break;
  }
  status = dft__outputs_close(&drain.outputs, *is_complete);
  if (status == DFT_OK) status = drain.outputs.first_error;
  for (int i = 0; i < WORKSPACES; i++) {
    dft__workspace *workspace = atomic_exchange(&drain.workspaces[i], NULL);
    if (is_alone) dft__workspace_free(workspace);
  }
  dft__signals_restore(before);
  return status;
}

const dft__outputs *dft__drain_outputs(void) {
  return &drain.outputs;
}
