/* test_late_exit.c - code that runs after the library's end: calls of other threads do not return while it is busy, and do
 * when it waits for them.
 *
 * The core's objects are in this program, so its destructor with the lowest priority runs after the library's.
 * SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <sys/prctl.h>
#include <time.h>

#include "session.h"
#include "session/session.h"

#define BUSY_SECONDS 1.5 /* more than threads are held for without a reason */

static dft_site site = DFT_SITE("event", "test");
static pthread_t recorder;
static _Atomic uint64_t returned;
static _Atomic int is_over;
static _Atomic int has_begun;
static enum { NOTHING, WORKS, WAITS } at_exit; /* what runs after the library does */

static void *record(void *unused) {
  while (!atomic_load(&is_over)) {
    dft_region_begin(&site);
    dft_region_end();
    atomic_fetch_add(&returned, 1);
  }
  return unused;
}

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* At most the call that was under way at the library's end returns. */
__attribute__((destructor(101))) static void run_after_the_library(void) {
  uint64_t before = atomic_load(&returned);
  if (at_exit == WORKS) {
    for (double end = processor_seconds() + BUSY_SECONDS; processor_seconds() < end;) continue;
    if (atomic_load(&returned) > before + 1) _exit(1);
  } else if (at_exit == WAITS) {
    atomic_store(&is_over, 1);
    if (pthread_join(recorder, NULL) != 0) _exit(1);
  }
}

/* Ends the process of the case. */
static void end_while_a_thread_records(void) {
  set("DFTRACER_ENABLE", "1");
  CHECK_INT(pthread_create(&recorder, NULL, record, NULL), 0);
  while (atomic_load(&returned) < 1000) usleep(1000);
  exit(0);
}

static void calls_do_not_return_while_the_end_goes_on(void) {
  at_exit = WORKS;
  end_while_a_thread_records();
}

static void calls_return_when_the_end_waits_for_them(void) {
  at_exit = WAITS;
  end_while_a_thread_records();
}

/* Its pauses are so long that the process ends in one of them. */
static void *record_late(void *unused) {
  CHECK_INT(prctl(PR_SET_TIMERSLACK, 300000000ul, 0, 0, 0), 0);
  atomic_store(&has_begun, 1);
  return record(unused);
}

static void a_first_call_does_not_return_if_the_process_ends_meanwhile(void) {
  at_exit = WORKS;
  set("DFTRACER_ENABLE", "1");
  CHECK(dft__session_lock(DFT__LOCK_ALWAYS));
  CHECK_INT(pthread_create(&recorder, NULL, record_late, NULL), 0);
  while (!atomic_load(&has_begun)) usleep(1000);
  usleep(100000); /* now it waits for the lock, to open the session */
  dft__session_unlock();
  dft_region_begin(&site);
  dft_region_end();
  exit(0);
}

int main(void) {
  RUN(calls_do_not_return_while_the_end_goes_on);
  RUN(calls_return_when_the_end_waits_for_them);
  RUN(a_first_call_does_not_return_if_the_process_ends_meanwhile);
  return failed_cases;
}
