/* lastcalls.c - calls that were on their way when the gate closed.
 *
 * A call looks at the gate, and a few instructions later it marks its thread as busy. So a thread that is not busy may still
 * record, if it lost its processor in between. It does not if it sleeps, or has run for a while since.
 * SPDX-License-Identifier: MIT */
#include "lastcalls.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/identity.h"
#include "base/monotonic.h"
#include "spool/chunk.h"

#define PAUSE_NS 50000
#define WATCHED 128 /* threads at once */
#define TRIES 200
#define AWAIT_ALL_NS UINT64_C(500000000)
#define ENOUGH_NS 200000 /* of processor time: more than the few instructions take, with a page fault among them */

static void pause_shortly(void) {
  struct timespec pause = {0, PAUSE_NS};
  syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
}

static const dft__thread *thread_in(const dft__chunk *chunk) {
  int is_open = dft__status_state(DFT__GET(chunk->status)) == DFT__OPEN;
  return is_open && DFT__ACQUIRE(chunk->use) == DFT__USE_THREAD ? (const dft__thread *)((const char *)chunk + DFT__CELL)
                                                                : NULL;
}

static int is_busy(const dft__chunk *chunk) {
  const dft__thread *thread = thread_in(chunk);
  return thread && DFT__ACQUIRE(thread->busy);
}

void dft__lastcalls_await(const dft__spool *spool) {
  for (int tries = 0; tries < TRIES; tries++) {
    uint64_t offset = 0;
    int busy = 0;
    const dft__chunk *chunk;
    while ((chunk = dft__chunk_walk(spool, &offset)) != NULL) busy |= is_busy(chunk);
    if (!busy) return;
    pause_shortly();
  }
}

/* Zero for one that is gone. */
static uint64_t processor_ns(uint32_t tid) {
  struct timespec time = {0, 0};
  clockid_t clock = (clockid_t)(~tid << 3 | 6); /* as pthread_getcpuclockid makes it */
  if (syscall(SYS_clock_gettime, clock, &time) != 0) return 0;
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int is_asleep(uint32_t tid) {
  char path[64], text[512] = "";
  const char *name_end;
  snprintf(path, sizeof path, "/proc/self/task/%u/stat", tid);
  dft__read_file(path, text, sizeof text);
  name_end = strrchr(text, ')');
  return name_end && name_end[1] == ' ' && name_end[2] != 'R';
}

typedef struct watched {
  const dft__chunk *chunk;
  uint32_t tid;
  uint64_t start_ns; /* of its processor time */
} watched;

static void await_thread(const watched *one, uint64_t deadline) {
  while (one->start_ns && dft__clock_ns() < deadline) {
    uint64_t now = processor_ns(one->tid);
    int is_past = !now || now - one->start_ns >= ENOUGH_NS || is_asleep(one->tid);
    if (is_past && !is_busy(one->chunk)) return;
    pause_shortly();
  }
}

void dft__lastcalls_await_all(const dft__spool *spool) {
  uint64_t deadline = dft__clock_ns() + AWAIT_ALL_NS, offset = 0;
  uint32_t own = (uint32_t)syscall(SYS_gettid), count;
  watched some[WATCHED];
  do {
    const dft__chunk *chunk;
    for (count = 0; count < WATCHED && (chunk = dft__chunk_walk(spool, &offset)) != NULL;) {
      uint32_t tid = DFT__GET(chunk->tid);
      if (thread_in(chunk) && tid != own) some[count++] = (watched){chunk, tid, processor_ns(tid)};
    }
    for (uint32_t i = 0; i < count; i++) await_thread(&some[i], deadline);
  } while (count == WATCHED);
}
