/* test_thread.c - threads: stacks of their own, cheap short ones, and a stop while they record.
 * SPDX-License-Identifier: MIT */
#include "session.h"

static dft_site outer = DFT_SITE("outer", "test");
static dft_site inner = DFT_SITE("inner", "test");

enum { ROUNDS = FEWER(20000, 2000) };

static void *record_nested(void *number) {
  int64_t own = (intptr_t)number;
  for (int i = 0; i < ROUNDS; i++) {
    dft_region_begin(&outer);
    dft_region_begin(&inner);
    dft_update_int("thread", own);
    dft_region_end();
    dft_region_end();
  }
  return NULL;
}

/* Each inner region lies in an outer one of its own thread. The first event of all opens the trace, on any of them. */
static void threads_have_stacks_of_their_own(void) {
  enum { THREADS = 8 };
  int64_t tids[THREADS] = {0};
  trace in;
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_SINK", "memory");
  on_threads(THREADS, record_nested);
  in = stop();
  CHECK_INT(count_name(&in, "inner"), (int64_t)THREADS * ROUNDS);
  CHECK_INT(count_name(&in, "outer"), (int64_t)THREADS * ROUNDS);
  for (size_t i = 0; i < in.count; i++) {
    int64_t thread = arg_int(&in.events[i], "thread");
    if (strcmp(in.events[i].name, "outer") == 0) CHECK_INT(arg_int(&in.events[i], "level"), 1);
    if (strcmp(in.events[i].name, "inner") != 0) continue;
    CHECK_INT(arg_int(&in.events[i], "level"), 2);
    CHECK(thread >= 0 && thread < THREADS);
    if (!tids[thread]) tids[thread] = in.events[i].tid;
    CHECK_INT(in.events[i].tid, tids[thread]);
  }
  for (int i = 0; i < THREADS; i++) {
    size_t names = 0;
    for (size_t k = 0; k < in.count; k++) {
      names += strcmp(in.events[k].name, "thread_name") == 0 && in.events[k].tid == tids[i];
    }
    CHECK_INT(names, 1);
  }
  free_trace(&in);
}

static void *record_one(void *number) {
  (void)number;
  dft_region_begin(&inner);
  dft_region_end();
  return NULL;
}

/* Memory of a thread that has ended serves the next ones. */
static void ten_thousand_short_threads_stay_cheap(void) {
  enum { THREADS = FEWER(10000, 2000) };
  struct rusage before, after;
  struct stat facts;
  char spool[256], path[512];
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_TRACE_COMPRESSION", "0");
  CHECK_INT(dft_start(&(dft_options){sizeof(dft_options), "short.pfw", NULL}), DFT_OK);
  for (int i = 0; i < THREADS; i++) {
    on_threads(1, record_one);
    if (i == THREADS / 5) getrusage(RUSAGE_SELF, &before);
  }
  getrusage(RUSAGE_SELF, &after);
  CHECK(count_files(".dftracer", spool) <= 2);
  snprintf(path, sizeof path, ".dftracer/%s", "short.spool");
  CHECK_INT(stat(path, &facts), 0);
  CHECK(facts.st_size <= 48 << 20);
  if (FEWER(1, 0)) CHECK(after.ru_maxrss - before.ru_maxrss < 40 << 10);
  CHECK_INT(dft_stop(), DFT_OK);
  trace in = read_trace("short.pfw");
  CHECK_INT(count_name(&in, "inner"), THREADS);
  CHECK_INT(count_name(&in, "thread_name"), THREADS + 1);
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), THREADS);
  free_trace(&in);
}

/* A batch's list of chunks is full long before these hold a member's worth of events. */
static void what_many_short_threads_leave_is_drained(void) {
  enum { THREADS = FEWER(40000, 3000) };
  struct stat facts;
  trace in;
  start_file("churn.pfw");
  for (int i = 0; i < THREADS; i++) on_threads(1, record_one);
  CHECK_INT(stat(".dftracer/churn.spool", &facts), 0);
  CHECK(facts.st_size <= 65 << 20); /* the default limit, and the header */
  stop_file();
  in = read_trace("churn.pfw");
  CHECK_INT(count_name(&in, "inner"), THREADS);
  free_trace(&in);
}

static _Atomic int is_running;

static void *record_until_told(void *number) {
  (void)number;
  while (is_running) {
    dft_region_begin(&outer);
    dft_update_string("text", "some");
    dft_region_end();
    dft_instant("now", "test");
  }
  return NULL;
}

/* Other threads go on as if nothing had happened, into whatever trace is open. */
static void a_stop_while_threads_record_is_clean(void) {
  pthread_t threads[4];
  is_running = 1;
  start_in_memory();
  for (int i = 0; i < 4; i++) CHECK_INT(pthread_create(&threads[i], NULL, record_until_told, NULL), 0);
  for (int turn = 0; turn < 6; turn++) {
    trace in;
    dft_instant("at least one", "test");
    usleep(10000);
    in = stop();
    CHECK_INT(count_name(&in, "at least one"), 1);
    free_trace(&in);
    usleep(1000);
    start_in_memory();
    dft_pause();
    dft_resume();
  }
  is_running = 0;
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  CHECK_INT(dft_stop(), DFT_OK);
  dft__memory_reset();
}

int main(void) {
  RUN(threads_have_stacks_of_their_own);
  RUN(ten_thousand_short_threads_stay_cheap);
  RUN(what_many_short_threads_leave_is_drained);
  RUN(a_stop_while_threads_record_is_clean);
  return failed_cases;
}
