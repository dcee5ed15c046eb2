/* in_c.c - the scenario in C: in_fortran.f90 and in_python.py record the same. SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <pthread.h>
#include <stdio.h>

static void step(int i) {
  static dft_site site = DFT_SITE("step", "solver");
  dft_region_begin(&site);
  dft_update_int("step", i);
  if (i % 2 == 0) { /* every second one returns early */
    dft_region_end();
    return;
  }
  dft_region_begin_named("odd", "solver");
  dft_update_double("half", i / 2.0);
  dft_region_end();
  dft_region_end();
}

static void *work(void *unused) {
  dft_region_begin_named("worker", "thread");
  for (int i = 1; i <= 3; i++) step(i);
  dft_region_end();
  return unused;
}

static void explicit_times(void) {
  dft_arg args[3] = {
    {.name = "bytes", .name_len = 5, .type = DFT_INT, .value.i = 1099511627776},
    {.name = "ratio", .name_len = 5, .type = DFT_DOUBLE, .value.d = 0.25},
    {.name = "file", .name_len = 4, .type = DFT_STRING, .value.s = {"a b", 3}},
  };
  dft_log_event_n("kernel", 6, "device", 6, 1700000000000000, 250, 0, args, 3);
}

/* What Python's API has no words for. */
static void more(void) {
  dft_arg arg = {.name = "residual", .name_len = 8, .type = DFT_DOUBLE, .value.d = 0.5};
  dft_region outer, inner;
  dft_instant_n("converged", 9, "solver", 6, &arg, 1);
  dft_counter("residual", "solver", 0.125);
  outer = dft_region_begin_named("outer", "solver");
  inner = dft_region_begin_named("inner", "solver");
  dft_update_int_n(outer, "of", 2, 1);
  dft_region_close(inner);
  dft_pause();
  dft_region_begin_named("paused", "solver");
  dft_region_end();
  dft_resume();
  dft_region_close(outer);
  dft_region_close(outer);
}

int main(int argc, char **argv) {
  pthread_t thread;
  (void)argv;
  dft_region_begin_named("main", "app");
  dft_update_int("int", -7);
  dft_update_int("long", 9007199254740993);
  dft_update_double("real", 0.1);
  dft_update_bool("flag", 1);
  dft_update_string("text", "gr\xc3\xbcn \"quoted\" \\ back");
  for (int i = 1; i <= 1000; i++) step(i);
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  explicit_times();
  dft_metadata("scheme", "upwind");
  if (argc > 1) more();
  dft_region_end();
  return 0;
}
