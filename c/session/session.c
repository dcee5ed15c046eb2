/* session.c - one trace of one process, from start to stop.
 * SPDX-License-Identifier: MIT */
#include "session.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "adopt.h"
#include "base/aside.h"
#include "base/config.h"
#include "base/log.h"
#include "base/signals.h"
#include "claim.h"
#include "drain/drain.h"
#include "drain/sinkspec.h"
#include "facts.h"
#include "lastcalls.h"
#include "publish.h"
#include "record/imbalance.h"
#include "record/joining.h"
#include "recover.h"
#include "spool/category.h"
#include "spool/clock.h"
#include "spool/commit.h"
#include "spool/hooks.h"
#include "spool/intern.h"
#include "spool/tracefolder.h"

/* -1 until it is decided whether to trace: then the first call decides. Afterwards 1 while a trace is open, else 0. */
int32_t dft_active = -1;

static void set_active(int32_t active) {
  __atomic_store_n(&dft_active, active, __ATOMIC_RELAXED);
}

static uint32_t is_decided;          /* the settings were read, or a trace was opened by a call */
static _Atomic uint64_t change_lock; /* pid 32 | tid 32 of the thread that opens or closes a session */
static _Atomic int32_t pauses;
static int is_exiting;
static int is_opening_by_event;  /* with the lock, as the next */
static uint64_t opening_signals; /* that the program has blocked; all of them in a handler with a stack of its own */

/* ---- The lock ------------------------------------------------------------------------------------------------------- */

/* While this thread forks, it holds the lock: 1, and 1 more for each time that a fork handler takes it again. */
static __thread __attribute__((tls_model("initial-exec"))) uint8_t locks_in_fork;

/* The clock ends the wait, not a number of tries: where the machine is loaded, or the program's timers have slack, a pause of 50
 * us takes many milliseconds. A lock that a thread of the parent process held at the fork is void. What that thread had begun
 * starts again. */
int dft__session_lock(int most_ms) {
  uint64_t own = (uint64_t)getpid() << 32 | dft__thread_id();
  uint64_t holder = 0, deadline = 0;
  struct timespec pause = {0, 50000};
  if (locks_in_fork) {
    locks_in_fork++;
    return 1;
  }
  while (!atomic_compare_exchange_strong(&change_lock, &holder, own)) {
    if (holder == own) return 0;
    if (holder >> 32 == own >> 32) {
      uint64_t now = dft__clock_ns();
      if (!deadline) deadline = most_ms < 0 ? UINT64_MAX : now + (uint64_t)most_ms * 1000000u;
      if (now >= deadline) return 0;
      syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
    } else if (atomic_compare_exchange_strong(&change_lock, &holder, own)) {
      if (!dft__session.is_open) is_decided = 0;
      return 1;
    }
    holder = 0;
  }
  return 1;
}

void dft__session_unlock(void) {
  if (locks_in_fork && --locks_in_fork) return;
  atomic_store(&change_lock, 0);
}

/* ---- Fork --------------------------------------------------------------------------------------------------------- */

static uint64_t mask_before_fork; /* with the lock */
static uint32_t open_before_fork; /* regions of the thread that forks; with the lock */

static int is_forked(void) {
  return dft__session.is_open &&
         (dft__session.identity.pid != (uint32_t)getpid() || !atomic_load(dft__gate_owner_mark()));
}

/* The child gets a copy of this memory, so no session may be half open in it. */
static void before_fork(void) {
  uint64_t mask = dft__signals_block();
  if (!dft__session_lock(DFT__LOCK_MS)) {
    dft__signals_restore(mask);
  } else if (!locks_in_fork) {
    locks_in_fork = 1;
    mask_before_fork = mask;
    open_before_fork = dft__imbalance_open();
  }
}

static void after_fork(void) {
  uint64_t mask = mask_before_fork;
  if (!locks_in_fork) return;
  dft__session_unlock();
  if (!locks_in_fork) dft__signals_restore(mask);
}

/* The child must not write into the parent's spool, even if the fork came inside a signal handler that interrupted a call. It
 * already has a trace of its own when an earlier fork handler has recorded. */
static void in_child(void) {
  int saved = errno;
  dft__hush++;
  dft__imbalance_forked(locks_in_fork ? open_before_fork : 0);
  if (is_forked()) {
    if (dft__self.session == dft__session.number && !dft__session.spool->is_detached) {
      dft__spool_detach(dft__session.spool);
      dft__drain_disown();
    }
    atomic_store(dft__gate_page(), 0);
    atomic_store(dft__gate_owner_mark(), 0);
  }
  dft__hush--;
  after_fork();
  errno = saved;
}

/* Not later, with the first session: another thread may be inside fork then. */
__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(before_fork, after_fork, in_child);
}

/* ---- Start -------------------------------------------------------------------------------------------------------- */

static void fill_header(dft__header *header, const dft__tracename *trace, const dft__identity *own, uint64_t first_id) {
  static const uint64_t unit_ns[] = {1000, 1, 1000000, 1000000000}; /* in the order of DFTRACER_TIME_METRIC's choices */
  header->start_ticks = own->start_ticks;
  header->pid_namespace = own->pid_namespace;
  header->time_namespace = own->time_namespace;
  header->image = own->image;
  header->pid = own->pid;
  header->ppid = own->ppid;
  memcpy(header->boot_id, own->boot_id, sizeof header->boot_id);
  memcpy(header->host, own->host, sizeof header->host);
  memcpy(header->folder, trace->folder, sizeof header->folder);
  memcpy(header->stem, trace->stem, sizeof header->stem);
  memcpy(header->base, trace->base, sizeof header->base);
  header->is_explicit = (uint32_t)trace->is_explicit;
  header->settings = dft__config_hash();
  dft__sinkspec_choose(header);
  header->compress = (int32_t)dft__config_number(DFT__TRACE_COMPRESSION);
  header->level = (int32_t)dft__config_number(DFT__COMPRESSION_LEVEL);
  header->metadata = (int32_t)dft__config_number(DFT__INC_METADATA);
  header->hide_tids = (int32_t)dft__config_number(DFT__DISABLE_TIDS);
  snprintf(header->unit, sizeof header->unit, "%s", dft__config_text(DFT__TIME_METRIC));
  header->unit_ns = unit_ns[dft__config_number(DFT__TIME_METRIC)];
  dft__clock_begin(header);
  header->age_ns = dft__identity_age_ns(own);
  header->first_id = first_id;
  DFT__SET(header->next_id, first_id + DFT__ID_BLOCK);
}

static void complain(dft_status status, int error, const char *log_file) {
  const char *why = dft__tracename_is_special(log_file) ? "it is a device, a FIFO or a socket"
                                                        : dft_status_text(status);
  dft__log(DFT__LOG_START, DFT__LOG_ERROR,
           "cannot open a trace at %s: %s%s%s; nothing is recorded (set DFTRACER_LOG_FILE to another place)", log_file,
           why, error ? ": " : "", error ? strerror(error) : "");
}

/* A trace of the process that this one was forked from. */
static int is_forked_from(const dft__session_state *session) {
  return session->identity.pid && session->identity.pid != (uint32_t)getpid() && session->spool->header;
}

/* What dead processes left in the folder is published by the drain's thread, until the session ends, and then by the process
 * itself, for a moment. The rest waits for others. */
#define OTHERS_NS UINT64_C(500000000)

static uint64_t others_deadline_ns;

static int is_time_over(void) {
  return dft__clock_ns() >= others_deadline_ns;
}

static void recover_others_meanwhile(const char *folder) {
  dft__unjudged plan = {
    .is_over = dft__drain_serve}; /* where producers leave all work to this thread, they wait for it */
  dft__recover_folder(folder, NULL, &plan);
}

static void recover_aside(void *folder) {
  dft__unjudged plan = {.is_over = is_time_over};
  dft__recover_folder(folder, NULL, &plan);
}

static void recover_others(char *folder) {
  others_deadline_ns = dft__clock_ns() + OTHERS_NS;
  dft__aside_run_long(recover_aside, folder);
}

/* A recording call that opens the session may be in a signal handler, which may have interrupted malloc. */
static int may_allocate(void) {
  return !is_opening_by_event || !dft__signals_may_be_handler(opening_signals);
}

/* Opens a session; with the lock. */
static dft_status open_session(uint64_t first_id, int is_child) {
  dft__session_state *session = &dft__session;
  const char *log_file;
  uint64_t limit = (uint64_t)dft__config_number(DFT__SPOOL_LIMIT) & ~(uint64_t)0xffff;
  dft__tracename trace;
  dft__spool *spool = dft__spool_spare(session->spool);
  const dft__spool *parent = is_forked_from(session) ? session->spool : NULL;
  dft_status status;
  uint64_t number = session->number + 1;
  int cancel, error;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  dft__config_make_absolute(DFT__LOG_FILE);
  dft__config_make_absolute(DFT__SPOOL_DIR);
  log_file = dft__config_text(DFT__LOG_FILE);
  errno = 0;
  if (session->identity.pid) dft__identity_renew(&session->identity); /* a child, or not the first trace */
  else dft__identity_own(&session->identity);
  dft__clock_choose();
  status = dft__gate_make() && spool ? dft__tracename_make(&trace, log_file, &session->identity, is_child) : DFT_ENOMEM;
  if (status == DFT_OK) {
    status = dft__claim_make(&trace, spool, &session->identity, dft__config_text(DFT__SPOOL_DIR), limit, may_allocate);
  }
  error = status == DFT_EIO ? errno : 0;
  if (status == DFT_OK) {
    if (spool->is_adopted) dft__clock_resume(spool->header);
    else fill_header(spool->header, &trace, &session->identity, first_id);
    if (!dft__commit_current(spool)->seq) dft__facts_fill(spool, parent);
    status = dft__drain_begin(spool, !is_child && dft_rank() <= 0 ? recover_others_meanwhile : NULL, dft__claim_renew);
  }
  if (status != DFT_OK) {
    complain(status, error, log_file);
  } else {
    session->spool = spool;
    session->number = number;
    session->is_child = (uint32_t)is_child;
    atomic_store(dft__gate_owner_mark(), 1);
    session->is_open = 1;
    dft__thread_prepare();
    dft__spool_announce(spool);
    set_active(1);
    if (!is_child) dft__tracename_note(&trace, log_file);
    dft__hooks.io_session_opened();
    DFT__RELEASE(*dft__gate_page(), number | (atomic_load(&pauses) > 0 ? DFT__GATE_PAUSED : 0));
    if (spool->is_adopted) dft__adopt_threads(spool, number);
    dft__clock_check(); /* the rate follows from a second comparison */
  }
  pthread_setcancelstate(cancel, NULL);
  return status;
}

/* A forked child keeps the parent's settings, and uses none of its ids: handles of the parent may still carry them. */
static dft_status open_in_child(void) {
  uint64_t first_id = DFT__GET(dft__session.spool->header->next_id);
  dft__session.is_open = 0;
  dft__drain_forget();
  dft__log_reset();
  return open_session(first_id, 1);
}

/* Whether a traced process started this one and asked it to trace into a file named after its own. */
static int is_started_by_parent(void) {
  int64_t parent = dft__config_number(DFT__PARENT);
  const char *log_file = secure_getenv("DFTRACER_LOG_FILE");
  return parent && parent != getpid() && log_file && strcmp(log_file, dft__config_text(DFT__LOG_FILE)) == 0;
}

/* With the lock. */
static int decide(void) {
  if (DFT__GET(*dft__gate_page())) return 1;
  if (is_forked()) {
    if (open_in_child() == DFT_OK) return 1;
  } else if (!is_decided) {
    is_decided = 1;
    dft__config_read();
    if (dft__config_number(DFT__ENABLE) && open_session(0, is_started_by_parent()) == DFT_OK) return 1;
  }
  set_active(0);
  return 0;
}

int dft__session_would_open(void) {
  if (!is_decided && !dft__session.is_open) dft__config_read();
  return dft__session.is_open || (!is_decided && dft__config_number(DFT__ENABLE));
}

/* ---- The end of the process ------------------------------------------------------------------------------------------- */

#define EXIT_NS UINT64_C(10000000000)      /* that threads are held for each step of completing the trace */
#define EXIT_AFTER_NS UINT64_C(1000000000) /* and afterwards */

static struct {
  _Atomic uint64_t by; /* pid 32 | tid 32 of the thread that ends the process; 0: none */
  _Atomic uint64_t until_ns;
} ending;

static int is_ending(void) {
  return atomic_load(&ending.by) >> 32 == (uint64_t)getpid();
}

static void hold_threads(uint64_t ns) {
  atomic_store(&ending.until_ns, dft__clock_ns() + ns);
}

/* Whether a thread waits for something else than a processor; maybe for a thread that is held here. */
static int is_asleep(uint32_t tid) {
  char path[48], text[128];
  const char *state;
  snprintf(path, sizeof path, "/proc/self/task/%u/stat", tid);
  dft__read_file(path, text, sizeof text);
  state = strrchr(text, ')');
  return !state || state[1] != ' ' || state[2] == 'S' || state[2] == 'D';
}

/* A call that returned is in the trace. So a call that comes too late for it does not return, because the process is about to
 * end. But code that runs after our destructor may wait for the thread, and so may a sink, for a lock: then it goes on. */
int dft__session_await_exit(void) {
  uint32_t by = (uint32_t)atomic_load(&ending.by);
  uint64_t until_ns, now_ns;
  struct timespec pause = {0, 1000000};
  if (!is_ending()) return 0;
  if (by == dft__thread_id()) return 1;
  for (;;) {
    until_ns = atomic_load(&ending.until_ns);
    now_ns = dft__clock_ns();
    if (now_ns >= until_ns && (now_ns >= until_ns + EXIT_NS || is_asleep(by))) break;
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
  }
  set_active(0);
  return 1;
}

/* What cannot be opened without the dynamic linker, and so not in a signal handler: the next call outside of one opens it. */
static int must_load(void) {
  const char *file = secure_getenv("DFTRACER_CONFIGURATION");
  const char *sinks = is_forked() ? dft__config_text(DFT__SINK) : secure_getenv("DFTRACER_SINK");
  return (!is_forked() && file && *file) || (sinks && dft__sinkspec_is_outside(sinks));
}

static void decide_aside(void *is_open) {
  *(int *)is_open = decide();
}

int dft__session_open_due(uint64_t signals) {
  int is_open = 0, is_locked = !is_ending() && dft__session_lock(DFT__LOCK_MS);
  if (is_ending()) { /* maybe while this thread waited for the lock, to open what is already completed */
    if (is_locked) dft__session_unlock();
    dft__session_await_exit();
    return 0;
  }
  if (!is_locked) return 0;
  is_opening_by_event = 1;
  opening_signals = dft__signals_on_own_stack() ? UINT64_MAX : signals; /* later this thread is on another one */
  if (!must_load() || may_allocate()) dft__aside_run(decide_aside, &is_open);
  is_opening_by_event = 0;
  dft__session_unlock();
  return is_open;
}

/* Zero when one of them is too long to be kept. */
static int apply(const dft_options *options) {
  int is_all = strcmp(dft__config_text(DFT__DATA_DIR), "all") ==
               0; /* record every path, whatever the program asks for */
  if (!options) return 1;
  return (!options->log_file || !options->log_file[0] || dft__config_set(DFT__LOG_FILE, options->log_file)) &&
         (!options->data_dir || !options->data_dir[0] || is_all || dft__config_set(DFT__DATA_DIR, options->data_dir));
}

/* With the lock. */
static dft_status start(const dft_options *options) {
  uint64_t first_id = 0;
  dft_status status;
  if (DFT__GET(*dft__gate_page())) return DFT_EACTIVE;
  if (is_forked()) {
    first_id = DFT__GET(dft__session.spool->header->next_id);
    dft__session.is_open = 0;
    dft__drain_forget();
    dft__log_reset();
  }
  is_decided = 1;
  dft__config_read();
  if (!apply(options)) status = DFT_EINVAL;
  else status = dft__config_number(DFT__ENABLE) ? open_session(first_id, is_started_by_parent()) : DFT_EDISABLED;
  if (status != DFT_OK) set_active(0);
  return status;
}

struct starting {
  const dft_options *options;
  dft_status status;
};

static void start_aside(void *starting) {
  struct starting *own = starting;
  own->status = start(own->options);
}

dft_status dft_start(const dft_options *options) {
  int saved = errno;
  uint64_t before;
  struct starting own = {options, DFT_EBUSY};
  if (options && options->struct_size < sizeof(dft_options)) return DFT_EINVAL;
  before = dft__signals_block(); /* a signal handler that jumps away would keep the lock for ever */
  if (dft__session_lock(DFT__LOCK_ALWAYS)) {
    dft__aside_run(start_aside, &own);
    dft__session_unlock();
  }
  dft__signals_restore(before);
  errno = saved;
  return own.status;
}

/* ---- Stop --------------------------------------------------------------------------------------------------------- */

/* Where the first process of a job completed its trace. At its exit it publishes the traces of children that died after that. */
static DFT__LARGE struct {
  char folder[4096];
  pid_t pid;
} completed;

/* Gives the trace its name, which is empty when there was no event, and removes the rest. */
static dft_status publish(char *name, size_t size) {
  const dft__outputs *outputs = dft__drain_outputs();
  dft__tracefolder at;
  dft_status status = DFT_EIO;
  name[0] = '\0';
  if (dft__tracefolder_return(&at, outputs->spool)) status = dft__publish(outputs, NULL, name, size);
  if (name[0]) dft__tracename_remember(outputs->spool->header);
  if (status == DFT_OK) dft__publish_clean(outputs, outputs->spool->path);
  dft__tracefolder_leave(&at);
  return status;
}

/* Where the events of the spool are now. */
static void complain_incomplete(const dft__spool *spool, dft_status status) {
  const char *folder = spool->header->folder, *why = dft_status_text(status);
  if (DFT__GET(spool->header->is_taken)) {
    dft__log(DFT__LOG_PUBLISH, DFT__LOG_ERROR,
             "the trace in %s could not be completed: another process recovers it; its events are kept "
             "(publish them later with: dftracer recover --lost %s)",
             folder, folder);
  } else if (dft__spool_is_in_place(spool)) {
    dft__log(DFT__LOG_PUBLISH, DFT__LOG_ERROR,
             "the trace in %s could not be completed: %s; its events are kept "
             "(publish them later with: dftracer recover %s)",
             folder, why, folder);
  } else {
    dft__log(DFT__LOG_PUBLISH, DFT__LOG_ERROR,
             "the trace in %s could not be completed: its spool %s was removed or renamed; if it was renamed, publish "
             "its events with dftracer recover, else those that were not yet written are lost",
             folder, spool->path);
  }
}

static _Atomic uint64_t last_dropped; /* events of the trace that was completed last */

/* With the lock, and the gate closed. */
static dft_status complete(void) {
  dft__session_state *session = &dft__session;
  const dft__header *header = session->spool->header;
  dft_status status, publish_status = DFT_OK;
  char name[DFT__PATH_MAX];
  char folder[4096];
  uint64_t dropped;
  int is_first = !session->is_child && DFT__GET(header->rank) <= 0 && !dft__tracename_has_parent(header);
  int is_complete;
  if (is_exiting) dft__lastcalls_await_all(session->spool);
  else dft__lastcalls_await(session->spool);
  status = dft__drain_end(&is_complete);
  hold_threads(EXIT_NS);
  dropped = DFT__GET(header->dropped);
  if (DFT__GET(header->unmatched)) {
    dft__log(DFT__LOG_UNMATCHED, DFT__LOG_WARN, "ignored %llu ends of regions that had no begin",
             (unsigned long long)DFT__GET(header->unmatched));
  }
  snprintf(folder, sizeof folder, "%s", header->folder);
  if (is_complete) {
    publish_status = publish(name, sizeof name);
    if (publish_status == DFT_OK && name[0]) dft__log(DFT__LOG_INFO, DFT__LOG_LEVEL_INFO, "wrote %s", name);
  }
  if (!is_complete || publish_status != DFT_OK) {
    if (status == DFT_OK) status = publish_status != DFT_OK ? publish_status : DFT_EIO;
    complain_incomplete(session->spool, status);
  }
  atomic_store(&last_dropped, dropped);
  session->is_open = 0;
  dft__clock_end();
  dft__spool_retire(session->spool, is_exiting);
  if (is_first && is_complete && publish_status == DFT_OK) {
    if (!is_exiting) recover_others(folder);
    memcpy(completed.folder, folder, sizeof folder);
    completed.pid = getpid();
  }
  if (is_complete && publish_status == DFT_OK && status != DFT_OK)
    status = DFT_OK; /* it failed once, and later succeeded */
  return status == DFT_OK && dropped ? DFT_EDROPPED : status;
}

struct stopping {
  uint64_t ticks; /* when the program asked for it */
  dft_status status;
};

/* With the lock. */
static void stop_aside(void *stopping) {
  struct stopping *own = stopping;
  int cancel;
  if (dft__session.is_open && !is_forked()) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    if (!is_exiting) set_active(0); /* else calls come here, and are held */
    DFT__RELEASE(*dft__gate_page(), 0);
    dft__hooks.io_session_closed();
    DFT__SET(dft__session.spool->header->ended_ticks, own->ticks);
    own->status = complete();
    dft__category_report();
    dft__log_flush();
    pthread_setcancelstate(cancel, NULL);
  } else {
    own->status = DFT_EINACTIVE;
    set_active(0);
    is_decided = 1;
  }
}

dft_status dft_stop(void) {
  int saved = errno;
  uint64_t before;
  struct stopping own = {dft__clock_idle_ticks(), DFT_EBUSY};
  if (!is_exiting) dft_unbind_io();
  before = dft__signals_block();
  if (dft__session_lock(DFT__LOCK_ALWAYS)) {
    dft__aside_run(stop_aside, &own);
    dft__session_unlock();
  }
  dft__signals_restore(before);
  errno = saved;
  return own.status;
}

/* The process ends in an orderly way. */
__attribute__((destructor)) static void at_exit(void) {
  is_exiting = 1; /* from now on wrappers call the real functions */
  if (dft__session.is_open && !is_forked()) {
    hold_threads(EXIT_NS);
    atomic_store(&ending.by, (uint64_t)getpid() << 32 | dft__thread_id());
    dft_stop();
    hold_threads(EXIT_AFTER_NS);
  }
  if (completed.pid == getpid()) {
    hold_threads(OTHERS_NS + EXIT_AFTER_NS);
    recover_others(completed.folder); /* with the signals that the program has */
    hold_threads(EXIT_AFTER_NS);
  }
}

/* ---- Pause and questions -------------------------------------------------------------------------------------------- */

void dft_pause(void) {
  if (atomic_fetch_add(&pauses, 1) == 0 && DFT__GET(*dft__gate_page()))
    atomic_fetch_or(dft__gate_page(), DFT__GATE_PAUSED);
}

void dft_resume(void) {
  int32_t before = atomic_load(&pauses);
  do {
    if (before <= 0) return;
  } while (!atomic_compare_exchange_weak(&pauses, &before, before - 1));
  if (before == 1) atomic_fetch_and(dft__gate_page(), ~DFT__GATE_PAUSED);
}

int dft_is_enabled(void) {
  if (!dft_is_active() || atomic_load(&pauses) > 0) return 0;
  if (!DFT__GET(*dft__gate_page()) && !is_decided && !is_forked()) {
    char value[8];
    return dft_config_get("DFTRACER_ENABLE", value, sizeof value) && value[0] == '1';
  }
  return 1;
}

uint64_t dft_time(void) {
  dft__own own;
  const dft__header *header;
  uint64_t unit_ns;
  if (!dft_is_active() || dft__thread_take(&own) == DFT__OFF) return 0;
  header = (const dft__header *)own.base;
  unit_ns = __atomic_load_n(&header->unit_ns, __ATOMIC_RELAXED);
  return unit_ns ? (dft__clock_ns() + (uint64_t)header->epoch_offset_ns) / unit_ns
                 : 0; /* 0: the session has just ended */
}

uint64_t dft_dropped(void) {
  if (is_forked()) return 0; /* the parent's are not this process's */
  return dft__session.is_open ? DFT__GET(dft__session.spool->header->dropped) : atomic_load(&last_dropped);
}
