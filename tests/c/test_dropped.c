/* test_dropped.c - what has no room is counted, each event once.
 * SPDX-License-Identifier: MIT */
#include "session.h"

#define THREADS 12
#define REGIONS 10
#define MADE (THREADS * (REGIONS + 1))

static pthread_barrier_t barrier;

/* The threads live at the same time, so that there is no room for some of them at all. */
static void *record(void *number) {
  static dft_site site = DFT_SITE("region", "test");
  (void)number;
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < REGIONS; i++) {
    dft_region_begin(&site);
    dft_update_int("number", i);
    dft_update_string("text", "text");
    dft_region_end();
  }
  dft_instant("instant", "test");
  pthread_barrier_wait(&barrier);
  return NULL;
}

/* The spool cannot grow any more. */
static void limit_files(void) {
  struct stat facts;
  struct rlimit limit;
  CHECK(stat("out/.dftracer/all.spool", &facts) == 0);
  limit = (struct rlimit){(rlim_t)facts.st_size, (rlim_t)facts.st_size};
  CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_lost_event_counts_once(void) {
  uint64_t dropped;
  trace in;
  set("DFTRACER_ON_FULL", "drop");
  pthread_barrier_init(&barrier, NULL, THREADS);
  start_file("out/all.pfw");
  dft_instant("first", "test");
  limit_files();
  on_threads(THREADS, record);
  dropped = dft_dropped();
  CHECK(dropped > 0);
  CHECK_INT(dft_stop(), DFT_EDROPPED);
  CHECK_UINT(dft_dropped(), dropped);
  in = read_trace("out/all.pfw");
  CHECK_UINT(count_name(&in, "region") + count_name(&in, "instant") + dropped, MADE);
  CHECK_INT(arg_int(the_event(&in, "end"), "num_dropped"), (int64_t)dropped);
  free_trace(&in);
}

static void in_child(void) {
  CHECK_UINT(dft_dropped(), 0);
  dft_instant("child", "test");
  CHECK_UINT(dft_dropped(), 0);
  CHECK_INT(dft_stop(), DFT_OK);
  CHECK_UINT(dft_dropped(), 0);
}

static void each_trace_has_a_count_of_its_own(void) {
  set("DFTRACER_ON_FULL", "drop");
  start_file("out/all.pfw");
  limit_files();
  for (int i = 0; i < 60000 && !dft_dropped(); i++) dft_instant("instant", "test");
  CHECK(dft_dropped() > 0);
  CHECK_INT(in_process(in_child), 0);
  CHECK_INT(dft_stop(), DFT_EDROPPED);
  CHECK(dft_dropped() > 0);
  start_file("out/next.pfw");
  CHECK_UINT(dft_dropped(), 0);
  dft_instant("next", "test");
  CHECK_INT(dft_stop(), DFT_OK);
  CHECK_UINT(dft_dropped(), 0);
}

int main(void) {
  RUN(a_lost_event_counts_once);
  RUN(each_trace_has_a_count_of_its_own);
  return failed_cases;
}
