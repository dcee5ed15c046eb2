/* test_restart.c - traces one after the other in one process: nothing grows, whatever other threads do meanwhile.
 * SPDX-License-Identifier: MIT */
#include <stdatomic.h>

#include "session.h"

static dft_site site = DFT_SITE("one", "test");

/* What one spool takes of the address space. */
enum { SPOOL_KIB = 129 << 10 };

/* Of /proc/self/status, in KiB. */
static long memory_kib(const char *field) {
  FILE *file = fopen("/proc/self/status", "r");
  char line[256];
  long value = -1;
  CHECK(file);
  while (fgets(line, sizeof line, file)) {
    if (strncmp(line, field, strlen(field)) == 0) value = strtol(line + strlen(field), NULL, 10);
  }
  fclose(file);
  CHECK(value >= 0);
  return value;
}

static void one_trace(void) {
  CHECK_INT(dft_start(NULL), DFT_OK);
  dft_region_begin(&site);
  dft_update_string("text", "some");
  dft_region_end();
  CHECK_INT(dft_stop(), DFT_OK);
}

/* First some traces for what a process needs once. Then the address space grows by at most so many spools, however many traces
 * follow. A thread keeps the spool that it used last. */
static void check_flat(int traces, int spools) {
  long address, resident;
  int descriptors;
  for (int i = 0; i < 20; i++) one_trace();
  address = memory_kib("VmSize:");
  resident = memory_kib("VmRSS:");
  descriptors = count_files("/proc/self/fd", NULL);
  for (int i = 0; i < traces; i++) one_trace();
  CHECK_INT(count_files("/proc/self/fd", NULL), descriptors);
  CHECK(memory_kib("VmSize:") - address < spools * SPOOL_KIB);
  if (FEWER(1, 0)) CHECK(memory_kib("VmRSS:") - resident < 16 << 10);
}

/* ---- Other threads ------------------------------------------------------------------------------------------------ */

enum { THREADS = 3 };

static _Atomic int is_running;
static _Atomic int started; /* threads that have recorded */
static __thread int is_started;

static void record_some(void) {
  for (int i = 0; i < 100; i++) {
    dft_region_begin(&site);
    dft_update_string("text", "some");
    dft_region_end();
    dft_instant("now", "test");
  }
  if (!is_started) started++;
  is_started = 1;
}

static void *record_on(void *number) {
  (void)number;
  while (is_running) record_some();
  return NULL;
}

/* As threads do that leave signals to another one. */
static void *record_without_signals(void *number) {
  sigset_t all;
  sigfillset(&all);
  CHECK_INT(pthread_sigmask(SIG_BLOCK, &all, NULL), 0);
  return record_on(number);
}

static void in_handler(int number) {
  (void)number;
  record_some();
}

/* Half of the time a handler is the first to meet a new trace. */
static void *record_in_handlers(void *number) {
  signal(SIGUSR1, in_handler);
  while (is_running) {
    raise(SIGUSR1);
    record_some();
  }
  return number;
}

/* One of a pool that has nothing to do any more. */
static void *record_and_wait(void *number) {
  record_some();
  while (is_running) usleep(1000);
  return number;
}

static void *record_and_end(void *number) {
  record_some();
  return number;
}

static void *begin_threads(void *number) {
  while (is_running) on_threads(2, record_and_end);
  return number;
}

/* On a busy machine a thread may start late. All have recorded before anything is measured: the first event of a thread takes
 * memory that it needs once. */
static void check_flat_beside(int traces, int spools, void *(*run)(void *number)) {
  pthread_t threads[THREADS];
  is_running = 1;
  CHECK_INT(dft_start(NULL), DFT_OK);
  for (int i = 0; i < THREADS; i++) CHECK_INT(pthread_create(&threads[i], NULL, run, NULL), 0);
  while (started < THREADS) usleep(1000);
  CHECK_INT(dft_stop(), DFT_OK);
  check_flat(traces, spools);
  is_running = 0;
  for (int i = 0; i < THREADS; i++) CHECK_INT(pthread_join(threads[i], NULL), 0);
}

/* ---- Cases -------------------------------------------------------------------------------------------------------- */

/* A thread whose signal handlers are the first to record in a trace may keep the four spools before it, too: the handler may have
 * interrupted a call there. */
enum { MANY = FEWER(1000, 100), SOME = 100, SPOOLS = THREADS + 2, SPOOLS_OF_HANDLERS = 5 * THREADS + 2 };

static void a_thousand_traces_leave_nothing(void) {
  check_flat(MANY, 2);
}

static void a_thousand_traces_leave_nothing_while_threads_record(void) {
  check_flat_beside(MANY, SPOOLS, record_on);
}

static void threads_may_block_signals(void) {
  check_flat_beside(SOME, SPOOLS, record_without_signals);
}

static void threads_may_record_in_signal_handlers(void) {
  check_flat_beside(SOME, SPOOLS_OF_HANDLERS, record_in_handlers);
}

static void threads_may_wait(void) {
  check_flat_beside(SOME, SPOOLS, record_and_wait);
}

static void threads_may_come_and_go(void) {
  check_flat_beside(SOME, 2 * THREADS + SPOOLS, begin_threads);
}

/* The address space of thirty spools is not there. */
static void an_address_space_of_a_gigabyte_is_enough(void) {
  const struct rlimit most = {(rlim_t)1 << 30, (rlim_t)1 << 30};
  CHECK_INT(setrlimit(RLIMIT_AS, &most), 0);
  check_flat(SOME, 2);
}

/* With another size the next spool takes another place. */
static void the_limit_of_the_spool_may_change(void) {
  static const char *const limits[] = {"16M", "64M", "1M"};
  long address = 0;
  for (int i = 0; i < 60; i++) {
    set("DFTRACER_SPOOL_LIMIT", limits[i % 3]);
    one_trace();
    if (i == 20) address = memory_kib("VmSize:");
  }
  CHECK(memory_kib("VmSize:") - address < 2 * SPOOL_KIB);
}

int main(void) {
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_SINK", "null");
  RUN(a_thousand_traces_leave_nothing);
  RUN(a_thousand_traces_leave_nothing_while_threads_record);
  RUN(threads_may_block_signals);
  RUN(threads_may_record_in_signal_handlers);
  RUN(threads_may_wait);
  RUN(threads_may_come_and_go);
  if (FEWER(1, 0)) RUN(an_address_space_of_a_gigabyte_is_enough); /* sanitizers need more */
  RUN(the_limit_of_the_spool_may_change);
  return failed_cases;
}
