/* drain.c - from the spool to the sinks, in the living process.
 *
 * Whoever drains takes an encoder, gives its batch the next number and chunks nobody else has (create lock), encodes on
 * its own, and leaves the encoder READY. READY encoders are appended in the order of their numbers by whoever gets the
 * append lock; nobody waits for a turn. All of it runs with signals blocked, so no handler meets a lock its thread holds.
 * SPDX-License-Identifier: MIT */
#include "drain.h"

#include <errno.h>
#include <limits.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/config.h"
#include "base/log.h"
#include "base/signals.h"
#include "record/thread.h"
#include "session/place.h"
#include "session/recover.h"
#include "sinks/sinks.h"
#include "spool/clock.h"

#define ENCODERS 4
#define BATCH_CELLS 6144u            /* worth a member: six chunks of 64 KiB */
#define CLAIM_CELLS 24576u           /* more than a member takes, so that it is never too small */
#define DEFINITIONS_MOST (64u << 10) /* bytes of paths that surely fit into one member */
#define WAIT_NS UINT64_C(5000000000) /* how long a producer waits for room */
#define PAUSE_LEAST_NS UINT64_C(100000)
#define PAUSE_MOST_NS UINT64_C(5000000)
#define RETRY_NS UINT64_C(1000000000) /* pause after a failed append */
#define SMALL_TRIES 50                /* before a producer makes do with less than a member's worth */
#define STACK_BYTES ((size_t)512 << 10)

enum encoder_state { IDLE = 0, BUSY = 1, READY = 2 };

static struct {
  _Atomic(dft__encoder *) encoders[ENCODERS];
  _Atomic uint32_t create_lock;
  _Atomic uint32_t append_lock;
  _Atomic uint64_t next_seq;   /* of the next batch; guarded by the create lock */
  _Atomic uint64_t turn;       /* the number whose turn it is to be appended */
  _Atomic uint32_t in_flight;  /* batches created and not yet appended */
  _Atomic uint64_t retry_ns;   /* nonzero: the output failed; not before then */
  _Atomic uint32_t is_stalled; /* a producer waited in vain: the next ones do not, until something is appended */
  _Atomic uint32_t has_begun;
  _Atomic int64_t ready_cells;
  /* the thread */
  _Atomic uint32_t thread_state; /* 0 none, 1 being made, 2 there, 3 could not be made */
  _Atomic uint32_t wake;         /* futex: counts reasons to look */
  pthread_t thread;
  int is_first;
  /* not of one session: producers of the one before may still be on their way out */
  _Atomic uint32_t is_ending; /* nobody else begins a batch */
  _Atomic uint32_t helpers;   /* threads that are at a batch */
  dft__output output;
} drain;

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

/* A producer may be late: its session has ended, and another may have begun. Nonzero when the drain still works for its spool; it
 * does so until leave, because dft__drain_end sets is_ending first and then waits for helpers. Signals are blocked. */
static int enter(const dft__spool *spool) {
  atomic_fetch_add(&drain.helpers, 1);
  return !atomic_load(&drain.is_ending) && drain.output.spool == spool;
}

static void leave(void) {
  atomic_fetch_sub(&drain.helpers, 1);
}

/* ---- One batch ---------------------------------------------------------------------------------------------------- */

static dft__encoder *take_encoder(void) {
  for (int i = 0; i < ENCODERS; i++) {
    dft__encoder *encoder = atomic_load(&drain.encoders[i]);
    uint32_t idle = IDLE;
    if (!encoder) {
      dft__encoder *none = NULL;
      encoder = dft__encoder_make(&drain.output);
      if (!encoder) return NULL;
      if (!atomic_compare_exchange_strong(&drain.encoders[i], &none, encoder)) {
        dft__encoder_free(encoder);
        encoder = none;
      }
    }
    if (atomic_compare_exchange_strong(&encoder->state, &idle, BUSY)) return encoder;
  }
  return NULL;
}

static void note_failure(dft_status status) {
  atomic_store(&drain.retry_ns, dft__clock_ns() + RETRY_NS);
  dft__log(DFT__LOG_SINK, DFT__LOG_ERROR,
           "cannot write the trace to %s: %s; events wait in the spool until it works again",
           drain.output.outlets[0].path, dft_status_text(status));
}

static int64_t consumed_cells(const dft_batch *batch) {
  int64_t cells = 0;
  for (uint32_t i = 0; i < batch->chunk_count; i++) cells += batch->chunks[i].cell - batch->chunks[i].start;
  return cells;
}

/* With the append lock. A batch that comes after a failure gives back what it claimed. */
static void append(dft__encoder *encoder) {
  int64_t cells = consumed_cells(&encoder->batch);
  dft_status status = dft__output_append(&drain.output, encoder);
  if (status == DFT_OK) {
    atomic_store(&drain.is_stalled, 0);
    atomic_fetch_sub(&drain.ready_cells, cells);
  } else if (!DFT__GET(drain.retry_ns)) {
    note_failure(status);
  }
}

static dft__encoder *ready_encoder(void) {
  for (int i = 0; i < ENCODERS; i++) {
    dft__encoder *encoder = atomic_load(&drain.encoders[i]);
    if (encoder && DFT__ACQUIRE(encoder->state) == READY && encoder->batch.seq == DFT__GET(drain.turn)) return encoder;
  }
  return NULL;
}

/* Looks again after it let go of the lock: another batch may have become ready that met the lock held. */
static void append_ready(void) {
  while (ready_encoder() && try_lock(&drain.append_lock)) {
    dft__encoder *encoder;
    while ((encoder = ready_encoder()) != NULL) {
      append(encoder);
      atomic_fetch_add(&drain.turn, 1);
      DFT__RELEASE(encoder->state, IDLE);
      atomic_fetch_sub(&drain.in_flight, 1);
    }
    unlock(&drain.append_lock);
  }
}

/* After a failure everything starts again from the last commit, once nothing is on its way any more. */
static int is_output_usable(void) {
  uint64_t retry = DFT__GET(drain.retry_ns);
  if (retry) {
    if (dft__clock_ns() < retry || DFT__GET(drain.in_flight)) return 0;
    atomic_store(&drain.retry_ns, 0);
    atomic_store(&drain.next_seq, dft__commit_current(drain.output.spool)->seq + 1);
    atomic_store(&drain.turn, DFT__GET(drain.next_seq));
  }
  if (!drain.output.is_open || retry) {
    dft_status status = dft__output_open(&drain.output);
    if (status != DFT_OK) {
      note_failure(status);
      return 0;
    }
  }
  return 1;
}

/* With the create lock. Nonzero when the lock must be kept until the batch is appended: the opening comes first, and so
 * do many definitions that may not fit into one member. */
static int create(dft__encoder *encoder, uint32_t flags, uint64_t least, int *has_work) {
  uint64_t seq = DFT__GET(drain.next_seq);
  dft_batch *batch = &encoder->batch;
  uint64_t cells;
  if (seq == 1) flags |= DFT__BATCH_FIRST;
  dft__batch_begin(batch, drain.output.spool, seq, flags);
  cells = dft__batch_claim(batch, flags & DFT__BATCH_FINAL ? UINT64_MAX : CLAIM_CELLS);
  *has_work = cells >= least || flags & DFT__BATCH_FINAL;
  if (!*has_work) {
    dft__batch_unclaim(batch);
    return 0;
  }
  dft__clock_settle(&batch->clock);
  atomic_store(&drain.next_seq, seq + 1);
  atomic_store(&drain.has_begun, 1);
  atomic_fetch_add(&drain.in_flight, 1);
  return dft__batch_take_definitions(batch) > DEFINITIONS_MOST || flags & DFT__BATCH_FIRST;
}

static int drain_batch(uint32_t flags, uint64_t least) {
  dft__encoder *encoder = take_encoder();
  int has_work = 0;
  int is_exclusive = 0;
  if (!encoder) return 0;
  if (!try_lock(&drain.create_lock)) {
    DFT__RELEASE(encoder->state, IDLE);
    return 0;
  }
  if (is_output_usable()) is_exclusive = create(encoder, flags, least, &has_work);
  if (!has_work) {
    DFT__RELEASE(encoder->state, IDLE);
    unlock(&drain.create_lock);
    return 0;
  }
  if (!is_exclusive) unlock(&drain.create_lock);
  dft__output_encode(&drain.output, encoder);
  DFT__RELEASE(encoder->state, READY);
  do append_ready();
  while (is_exclusive && DFT__GET(drain.in_flight) && (wait_ns(20000), 1));
  if (is_exclusive) unlock(&drain.create_lock);
  return 1;
}

/* One batch of at least so many cells; zero when there was nothing to do, or no means to do it. Signals are blocked. */
static int drain_once(uint32_t flags, uint64_t least) {
  int has_worked = 0;
  atomic_fetch_add(&drain.helpers, 1); /* before it looks: dft__drain_end sets the one and then waits for the other */
  if (flags & DFT__BATCH_FINAL || !atomic_load(&drain.is_ending)) has_worked = drain_batch(flags, least);
  atomic_fetch_sub(&drain.helpers, 1);
  return has_worked;
}

/* ---- The thread --------------------------------------------------------------------------------------------------- */

/* A descriptor table of its own, empty: no number the application expects is taken, no pipe of its kept open. */
static void leave_descriptors(void) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, 0, UINT_MAX, CLOSE_RANGE_UNSHARE) == 0) return;
#endif
  if (unshare(CLONE_FILES) == 0) {
    for (int fd = 0; fd < 65536; fd++) close(fd);
  }
}

static int has_enough(void) {
  return atomic_load(&drain.ready_cells) >= BATCH_CELLS;
}

static void *run(void *unused) {
  int has_recovered = !drain.is_first;
  (void)unused;
  pthread_setname_np(pthread_self(), "dftracer");
  dft__hush++;
  dft__log_defer();
  leave_descriptors();
  if (drain.output.spool->header->compress) dft__sinks_prepare_aside();
  while (!atomic_load(&drain.is_ending)) {
    uint32_t seen = atomic_load(&drain.wake);
    struct timespec retry = {1, 0};
    int is_failing;
    dft__spool_prepare(drain.output.spool);
    while (has_enough() && !atomic_load(&drain.is_ending) && drain_once(0, BATCH_CELLS))
      dft__spool_prepare(drain.output.spool);
    append_ready();
    if (!has_recovered && !atomic_load(&drain.is_ending)) {
      has_recovered = 1;
      dft__recover_folder(drain.output.spool->header->folder, NULL, 0);
    }
    is_failing = has_enough();
    syscall(SYS_futex, &drain.wake, FUTEX_WAIT_PRIVATE, seen, is_failing ? &retry : NULL, NULL, 0);
  }
  return NULL;
}

/* Signals are blocked: a handler might jump away, and dft_stop waits for the state. */
static void make_thread(uint64_t signals) {
  uint32_t none = 0;
  pthread_attr_t attributes;
  int error;
  if (dft__signals_may_be_handler(signals)) return; /* another time: making a thread allocates */
  if (!atomic_compare_exchange_strong(&drain.thread_state, &none, 1)) return;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  error = pthread_create(&drain.thread, &attributes, run, NULL);
  if (error) error = pthread_create(&drain.thread, NULL, run, NULL);
  pthread_attr_destroy(&attributes);
  atomic_store(&drain.thread_state, error ? 3 : 2);
}

static void notify(uint32_t cells, uint64_t signals) {
  int64_t before = atomic_fetch_add(&drain.ready_cells, cells);
  if (before + cells < BATCH_CELLS) return;
  if (DFT__GET(drain.thread_state) == 0) make_thread(signals);
  else if (before < BATCH_CELLS || before / BATCH_CELLS != (before + cells) / BATCH_CELLS) wake_thread();
}

void dft__drain_notify(const dft__spool *spool, uint32_t cells, uint64_t signals) {
  if (enter(spool)) notify(cells, signals);
  leave();
}

int dft__drain_has_begun(void) {
  return (int)atomic_load(&drain.has_begun);
}

/* ---- Producers ---------------------------------------------------------------------------------------------------- */

/* Of the usual size, or else smaller; or one that a huge record has left, because chunks never change their size. */
static dft__chunk *take_any(dft__spool *spool, uint32_t cells) {
  static const uint32_t logs[] = {DFT__BLOCK_LOG, 14, DFT__CHUNK_LOG_MIN, 17, 18, 19, 20, 21, DFT__CHUNK_LOG_MAX};
  uint32_t huge = DFT__BLOCK_LOG;
  while (dft__cells_of(huge) < cells + 1) huge++;
  if (huge > DFT__BLOCK_LOG) return dft__chunk_take(spool, huge, DFT__USE_RECORDS, 1);
  for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++) {
    dft__chunk *chunk;
    if (dft__cells_of(logs[i]) < cells + 1) continue;
    chunk = dft__chunk_take(spool, logs[i], DFT__USE_RECORDS, 0);
    if (chunk) return chunk;
  }
  return NULL;
}

/* Why there is no room. */
static void tell_loss(const dft__spool *spool) {
  unsigned long long kib = (unsigned long long)DFT__GET(spool->header->file_bytes) >> 10;
  const char *why = "it cannot be made longer";
  switch (DFT__GET(spool->grow_error)) {
    case 0:
      dft__log(DFT__LOG_SPACE, DFT__LOG_ERROR,
               "the spool is full (DFTRACER_SPOOL_LIMIT=%s) and the trace cannot be written fast "
               "enough; events are dropped and counted",
               dft__config_text(DFT__SPOOL_LIMIT));
      return;
    case ENOSPC: why = "the disk is full"; break;
    case EDQUOT: why = "the quota of the disk is used up"; break;
    case EFBIG: why = "files may not be longer (ulimit -f)"; break;
    case EMFILE:
    case ENFILE: why = "no descriptor is free (ulimit -n)"; break;
    case ENOENT: why = "somebody has removed it"; break;
  }
  dft__log(DFT__LOG_SPACE, DFT__LOG_ERROR,
           "the spool %s stays at %llu KiB: %s; events are dropped and counted (DFTRACER_SPOOL_DIR puts it elsewhere)",
           spool->path, kib, why);
}

static dft__chunk *make_room(dft__spool *spool, uint32_t cells, uint64_t signals) {
  uint64_t deadline = dft__clock_ns() + WAIT_NS;
  int is_dropping = dft__config_number(DFT__ON_FULL) == 1;
  int tries = 0;
  uint64_t pause_ns = PAUSE_LEAST_NS;
  uint64_t progress = DFT__GET(spool->header->commit_seq);
  dft__chunk *chunk;
  if (DFT__GET(drain.thread_state) == 0) make_thread(signals);
  for (;;) {
    int has_helped = 0;
    chunk = take_any(spool, cells);
    if (chunk || is_dropping || DFT__GET(drain.is_stalled)) break;
    if (atomic_load(&drain.is_ending)) return NULL;
    if (drain.output.can_assist) {
      has_helped = drain_once(0, tries++ < SMALL_TRIES ? BATCH_CELLS : 1);
    } else {
      wake_thread();
    }
    /* Every chunk is in use by a thread, none of them full: more threads than the limit was made for. */
    if (!has_helped && atomic_load(&drain.ready_cells) <= 0) {
      chunk = dft__chunk_take(spool, 14, DFT__USE_RECORDS, 1);
      if (chunk && dft__cells_of(14) >= cells + 1) break;
      if (chunk) dft__chunk_give(spool, chunk);
    }
    if (DFT__GET(spool->header->commit_seq) != progress) { /* slow, but it moves */
      progress = DFT__GET(spool->header->commit_seq);
      deadline = dft__clock_ns() + WAIT_NS;
    } else if (dft__clock_ns() > deadline) {
      atomic_store(&drain.is_stalled, 1);
      break;
    }
    if (!has_helped) {
      wake_thread(); /* to make the spool longer, where it can */
      wait_ns(pause_ns);
      if (pause_ns < PAUSE_MOST_NS)
        pause_ns *= 2; /* hundreds may be waiting: they must not keep the others from working */
    }
  }
  if (!chunk) tell_loss(spool);
  return chunk;
}

dft__chunk *dft__drain_make_room(dft__spool *spool, uint32_t cells, uint64_t signals) {
  dft__chunk *chunk = enter(spool) ? make_room(spool, cells, signals) : NULL;
  leave();
  return chunk;
}

/* ---- Begin and end -------------------------------------------------------------------------------------------------- */

void dft__drain_disown(void) {
  atomic_store(&drain.is_ending, 1);
  atomic_store(&drain.thread_state, 3);
}

static void clear_session(void) {
  memset(&drain, 0, (size_t)((char *)&drain.is_ending - (char *)&drain));
}

void dft__drain_forget(void) {
  clear_session();
  atomic_store(&drain.helpers, 0);
}

dft_status dft__drain_begin(dft__spool *spool, int is_first) {
  uint64_t written = dft__commit_current(spool)->seq;
  dft_status status;
  clear_session();
  drain.is_first = is_first;
  status = dft__output_prepare(&drain.output, spool);
  atomic_store(&drain.next_seq, written + 1);
  atomic_store(&drain.turn, written + 1);
  atomic_store(&drain.has_begun, written != 0);
  atomic_store(&drain.is_ending, 0);
  return status;
}

/* Where there is no thread, none can be made any more: nobody would join it. */
static void end_thread(void) {
  uint32_t state = 0;
  atomic_store(&drain.is_ending, 1);
  while (!atomic_compare_exchange_strong(&drain.thread_state, &state, 3) && state == 1) {
    state = 0;
    sched_yield();
  }
  if (state != 2) return;
  wake_thread();
  pthread_join(drain.thread, NULL);
}

/* Producers that help are on their way out; zero when a disk keeps one of them too long. */
static int await_helpers(void) {
  for (int tries = 0; tries < 100000; tries++) {
    if (!atomic_load(&drain.helpers) && !DFT__GET(drain.in_flight)) return 1;
    append_ready();
    wait_ns(PAUSE_LEAST_NS);
  }
  return 0;
}

dft_status dft__drain_end(int *is_complete) {
  uint64_t before = dft__signals_block();
  dft_status status = DFT_OK;
  int is_alone;
  end_thread();
  is_alone = await_helpers();
  atomic_store(&drain.retry_ns, DFT__GET(drain.retry_ns) ? 1 : 0);
  /* Nothing but our own bookkeeping leaves no file. */
  *is_complete = !DFT__GET(drain.has_begun) && !dft__batch_has_events(drain.output.spool);
  while (!*is_complete && drain_once(DFT__BATCH_FINAL, 0)) {
    *is_complete = dft__commit_current(drain.output.spool)->complete != 0;
  }
  status = dft__output_close(&drain.output, *is_complete);
  if (status == DFT_OK) status = drain.output.first_error;
  for (int i = 0; i < ENCODERS; i++) {
    dft__encoder *encoder = atomic_exchange(&drain.encoders[i], NULL);
    if (is_alone) dft__encoder_free(encoder);
  }
  dft__signals_restore(before);
  return status;
}

dft_status dft__drain_publish(char *name, size_t size) {
  dft_status status = dft__place_publish(&drain.output, name, size);
  if (name[0]) dft__place_remember(drain.output.spool->header);
  if (status == DFT_OK) dft__place_clean(&drain.output, drain.output.spool->path);
  return status;
}
