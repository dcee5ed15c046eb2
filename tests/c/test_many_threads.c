/* test_many_threads.c - more living threads than a commit can name chunks: the trace ends, and so does its recovery.
 * And all of them at once: nothing is dropped.
 * SPDX-License-Identifier: MIT */
#include "session.h"
#include "spool/record.h"

enum { THREADS = DFT__COMMIT_CHUNKS + 76 };

static dft_site site = DFT_SITE("step", "test");
static pthread_barrier_t recorded, may_end;

static void record(int count) {
  for (int i = 0; i < count; i++) {
    dft_region_begin(&site);
    dft_region_end();
  }
}

static void *record_and_stay(void *number) {
  (void)number;
  record(1);
  pthread_barrier_wait(&recorded);
  pthread_barrier_wait(&may_end);
  return NULL;
}

enum { EVENTS = FEWER(3000, 200) };

static void *record_at_once(void *number) {
  (void)number;
  pthread_barrier_wait(&recorded);
  record(EVENTS);
  return NULL;
}

/* Returns as soon as all have reached the first barrier. */
static void begin_threads(pthread_t threads[THREADS], void *(*run)(void *)) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  CHECK_INT(pthread_attr_setstacksize(&small, FEWER(64 << 10, 512 << 10)), 0);
  pthread_barrier_init(&recorded, NULL, THREADS + 1);
  pthread_barrier_init(&may_end, NULL, THREADS + 1);
  for (int i = 0; i < THREADS; i++) CHECK_INT(pthread_create(&threads[i], &small, run, NULL), 0);
  pthread_barrier_wait(&recorded);
}

static void check_trace(const char *path, int events) {
  trace in = read_trace(path);
  CHECK_INT(count_name(&in, "step"), events);
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), events);
  free_trace(&in);
}

/* Each of them has a chunk that is not full. */
static void a_trace_ends_while_they_live(void) {
  static pthread_t threads[THREADS];
  start_file("a.pfw");
  begin_threads(threads, record_and_stay);
  stop_file();
  pthread_barrier_wait(&may_end);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  check_trace("a.pfw", THREADS);
}

static void die_while_they_live(void) {
  static pthread_t threads[THREADS];
  start_file("a.pfw");
  begin_threads(threads, record_and_stay);
  raise(SIGKILL);
}

static void what_they_left_is_recovered(void) {
  dft_recovery report = {.struct_size = sizeof report};
  CHECK_INT(in_process(die_while_they_live), 128 + SIGKILL);
  CHECK_INT(dft_recover(".", &report), DFT_OK);
  check_trace("a.pfw", THREADS);
}

/* Their chunks of the usual size would be more than the spool may hold. */
static void they_record_at_once_and_nothing_is_dropped(void) {
  static pthread_t threads[THREADS];
  start_file("a.pfw");
  begin_threads(threads, record_at_once);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  stop_file();
  check_trace("a.pfw", THREADS * EVENTS);
}

int main(void) {
  RUN(a_trace_ends_while_they_live);
  RUN(they_record_at_once_and_nothing_is_dropped);
  RUN(what_they_left_is_recovered);
  return failed_cases;
}
