/* test_many_threads.c - more living threads than a commit can name chunks: the trace ends, and so does its recovery.
 * SPDX-License-Identifier: MIT */
#include "session.h"
#include "spool/record.h"

enum { THREADS = DFT__COMMIT_CHUNKS + 76 };

static dft_site site = DFT_SITE("step", "test");
static pthread_barrier_t recorded, may_end;

static void *record_and_stay(void *number) {
  (void)number;
  dft_region_begin(&site);
  dft_region_end();
  pthread_barrier_wait(&recorded);
  pthread_barrier_wait(&may_end);
  return NULL;
}

/* Each of them has a chunk that is not full. Returns as soon as all have recorded. */
static void begin_threads(pthread_t threads[THREADS]) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  CHECK_INT(pthread_attr_setstacksize(&small, FEWER(64 << 10, 512 << 10)), 0);
  pthread_barrier_init(&recorded, NULL, THREADS + 1);
  pthread_barrier_init(&may_end, NULL, THREADS + 1);
  for (int i = 0; i < THREADS; i++) CHECK_INT(pthread_create(&threads[i], &small, record_and_stay, NULL), 0);
  pthread_barrier_wait(&recorded);
}

static void check_trace(const char *path) {
  trace in = read_trace(path);
  CHECK_INT(count_name(&in, "step"), THREADS);
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), THREADS);
  free_trace(&in);
}

static void a_trace_ends_while_they_live(void) {
  static pthread_t threads[THREADS];
  start_file("a.pfw");
  begin_threads(threads);
  stop_file();
  pthread_barrier_wait(&may_end);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  check_trace("a.pfw");
}

static void die_while_they_live(void) {
  static pthread_t threads[THREADS];
  start_file("a.pfw");
  begin_threads(threads);
  raise(SIGKILL);
}

static void what_they_left_is_recovered(void) {
  dft_recovery report = {.struct_size = sizeof report};
  CHECK_INT(in_process(die_while_they_live), 128 + SIGKILL);
  CHECK_INT(dft_recover(".", &report), DFT_OK);
  check_trace("a.pfw");
}

int main(void) {
  RUN(a_trace_ends_while_they_live);
  RUN(what_they_left_is_recovered);
  return failed_cases;
}
