/* room.c - what recording threads do when the spool is full: they help, wait in line for the next free chunk, or give up.
 * SPDX-License-Identifier: MIT */
#include "room.h"

#include <errno.h>

#include "base/config.h"
#include "base/log.h"
#include "base/monotonic.h"
#include "drain.h"
#include "waiters.h"

#define HELPERS_MOST 4 /* of the first in line: as many as there are workspaces */
#define PAUSE_LEAST_NS UINT64_C(100000)
#define PAUSE_MOST_NS UINT64_C(5000000) /* of the first ones, who look for work */
#define LOOK_NS UINT64_C(100000000)     /* of the others, who will be woken */
#define IDLE_NS UINT64_C(5000000)       /* without a commit, and without work: no chunk will become free */
#define SMALL_TRIES 50                  /* before a producer makes do with half a batch, which still makes a member */
#define ALONE_TRIES 4                   /* the same when no batch is on its way that will make room */
#define HALF_NS UINT64_C(50000000)      /* and then with anything */
#define ON_FULL_DROP 1                  /* DFTRACER_ON_FULL=drop, in the order of its choices */

/* ---- Chunks ----------------------------------------------------------------------------------------------------------- */

/* A chunk of this size for a record of so many cells; NULL when it is too small, or there is none. */
static dft__chunk *take_chunk(dft__spool *spool, uint32_t size_log, uint32_t cells) {
  return dft__cells_of(size_log) < cells + 1 ? NULL : dft__chunk_take(spool, size_log, DFT__USE_RECORDS, 0);
}

/* A chunk of the usual size or else a smaller one. Then larger ones: a huge record may have left them, or a time with fewer
 * threads, and chunks never change their size. */
static dft__chunk *take_any(dft__spool *spool, uint32_t cells) {
  uint32_t huge_log = DFT__BLOCK_LOG;
  uint32_t usual_log = dft__chunk_usual_log(spool);
  dft__chunk *chunk = NULL;
  while (dft__cells_of(huge_log) < cells + 1) huge_log++;
  if (huge_log > DFT__BLOCK_LOG) return dft__chunk_take(spool, huge_log, DFT__USE_RECORDS, 1);
  if (usual_log >= DFT__BLOCK_LOG) chunk = take_chunk(spool, DFT__BLOCK_LOG, cells);
  if (!chunk && usual_log >= DFT__CHUNK_LOG_MIDDLE) chunk = take_chunk(spool, DFT__CHUNK_LOG_MIDDLE, cells);
  if (!chunk) chunk = take_chunk(spool, DFT__CHUNK_LOG_MIN, cells);
  for (uint32_t log = usual_log + 1; !chunk && log <= DFT__CHUNK_LOG_MAX; log++) chunk = take_chunk(spool, log, cells);
  return chunk;
}

/* Nothing is left to drain. Unless a chunk has become free just now, threads hold every one and none is full: there are more
 * threads than the limit allows for. */
static dft__chunk *take_last(dft__spool *spool, uint32_t cells) {
  uint32_t log = dft__chunk_usual_log(spool) < DFT__CHUNK_LOG_MIDDLE ? DFT__CHUNK_LOG_MIN : DFT__CHUNK_LOG_MIDDLE;
  dft__chunk *chunk = take_any(spool, cells);
  if (chunk) return chunk;
  if (dft__cells_of(log) < cells + 1) log = DFT__CHUNK_LOG_MIDDLE;
  return dft__cells_of(log) < cells + 1 ? NULL : dft__chunk_take(spool, log, DFT__USE_RECORDS, 1);
}

/* Says why there is no room. */
static void report_loss(const dft__spool *spool) {
  unsigned long long kib = (unsigned long long)DFT__GET(spool->header->file_bytes) >> 10;
  const char *why = "a file operation failed";
  switch (DFT__GET(spool->grow_error)) {
    case 0:
      dft__log(DFT__LOG_SPACE, DFT__LOG_ERROR,
               "the spool is full (DFTRACER_SPOOL_LIMIT=%s) and the trace cannot be written fast "
               "enough; events are dropped and counted",
               dft__config_text(DFT__SPOOL_LIMIT));
      return;
    case ENOSPC: why = "the disk is full"; break;
    case EDQUOT: why = "the quota of the disk is used up"; break;
    case EFBIG: why = "the limit of the file size is reached (ulimit -f)"; break;
    case EMFILE: why = "no file descriptor is free (ulimit -n)"; break;
    case ENFILE: why = "the system has too many open files"; break;
    case EACCES: why = "permission is denied"; break;
    case ENOENT: why = "it has been removed, or its folder renamed"; break;
    case ENOMEM: why = "there is no memory"; break;
  }
  dft__log(DFT__LOG_SPACE, DFT__LOG_ERROR,
           "the spool %s cannot grow beyond %llu KiB: %s; events are dropped and counted (DFTRACER_SPOOL_DIR moves it)",
           spool->path, kib, why);
}

/* ---- Waiting ---------------------------------------------------------------------------------------------------------- */

/* One thread's wait. */
typedef struct wait {
  uint64_t begun_ns;
  uint64_t deadline;
  uint64_t pause_ns;    /* as a helper */
  uint64_t progress;    /* the commit that was seen last */
  uint64_t progress_ns; /* and when */
  uint64_t signals;     /* that the program has blocked */
  int tries;
} wait;

/* Slow is not stuck. Zero when the wait is over. */
static int may_go_on(const dft__spool *spool, wait *own) {
  uint64_t now = dft__clock_ns();
  uint64_t progress = DFT__GET(spool->header->commit_seq);
  if (progress != own->progress) {
    own->progress = progress;
    own->progress_ns = now;
    if (!dft__waiters_is_failing()) own->deadline = now + DFT__WAITERS_WAIT_NS;
  }
  if (now < dft__waiters_end_of_wait(now, own->deadline)) return 1;
  dft__waiters_stall();
  return 0;
}

/* Of the first ones in line. Nonzero when something was written. */
static int help(wait *own) {
  int most_tries = dft__drain_in_flight() ? SMALL_TRIES : ALONE_TRIES;
  uint64_t least = DFT__BATCH_CELLS;
  if (own->tries++ >= most_tries) least = dft__clock_ns() < own->begun_ns + HALF_NS ? DFT__BATCH_CELLS / 2 : 1;
  return dft__drain_assist(least, own->signals);
}

/* Of the first ones: a chunk that is free, or one beyond the limit if none will become free. */
static dft__chunk *try_to_take(dft__spool *spool, uint32_t cells, const wait *own) {
  dft__chunk *chunk = take_any(spool, cells);
  if (!chunk && dft__drain_is_idle() && dft__clock_ns() > own->progress_ns + IDLE_NS) chunk = take_last(spool, cells);
  dft__waiters_note_growth(spool);
  return chunk;
}

/* Until it looks again by itself. Helpers look for work. The first ones, who may have been overtaken, are not always called. */
static uint64_t pause_ns(int place, wait *own) {
  if (place >= DFT__WAITERS_FIRST) return LOOK_NS;
  if (place >= HELPERS_MOST) return PAUSE_MOST_NS;
  if (own->pause_ns < PAUSE_MOST_NS) own->pause_ns *= 2;
  return own->pause_ns;
}

static dft__chunk *wait_in_line(dft__spool *spool, uint32_t cells, uint32_t ticket, uint64_t signals) {
  uint64_t now = dft__clock_ns();
  wait own = {now, now + DFT__WAITERS_WAIT_NS, PAUSE_LEAST_NS, DFT__GET(spool->header->commit_seq), now, signals, 0};
  for (;;) {
    uint32_t calls = dft__waiters_calls(ticket);
    int place = dft__waiters_place(ticket);
    dft__chunk *chunk;
    if (dft__drain_is_ending() || atomic_load(&spool->is_retired)) return NULL;
    if (place < DFT__WAITERS_FIRST && (chunk = try_to_take(spool, cells, &own)) != NULL) return chunk;
    if (dft__waiters_is_stalled() || !may_go_on(spool, &own)) return NULL;
    if (place < HELPERS_MOST) {
      if (help(&own)) continue;
      dft__drain_wake(); /* it may be able to make the spool longer */
    }
    dft__waiters_sleep(ticket, calls, pause_ns(place, &own));
  }
}

static dft__chunk *make_room(dft__spool *spool, uint32_t cells, uint64_t signals) {
  dft__chunk *chunk;
  dft__drain_make_thread(signals);
  if (dft__config_number(DFT__ON_FULL) == ON_FULL_DROP || dft__waiters_is_stalled()) {
    chunk = take_any(spool, cells);
  } else {
    chunk = wait_in_line(spool, cells, dft__waiters_join(spool), signals);
    dft__waiters_leave(spool);
  }
  if (!chunk && !dft__drain_is_ending()) report_loss(spool);
  return chunk;
}

dft__chunk *dft__room_make(dft__spool *spool, uint32_t cells, uint64_t signals) {
  uint64_t begun_ns = dft__clock_ns();
  dft__chunk *chunk = NULL;
  if (dft__drain_enter(spool)) {
    chunk = make_room(spool, cells, signals);
    atomic_fetch_add(&spool->header->assist_ns, dft__clock_ns() - begun_ns);
  }
  dft__drain_leave();
  return chunk;
}
