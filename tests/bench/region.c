/* region.c - what a region costs its thread: bursts of each kind in turn with bursts of the floor.
 *
 * Usage: region ROUNDS. Prints nanoseconds a region, and as <name>.probe how fast the core was before and after, the
 * slower of the two. Run it with DFTRACER_ENABLE=1 and DFTRACER_SINK=null.
 *
 * A burst fits the spool, and its time ends before the drain has caught up: what is measured is the caller's part. So
 * that the kernel does not let the two share a core while another one idles, each gets a core of its own.
 * SPDX-License-Identifier: MIT */
#include <dftracer/dftracer.h>

#include "bench.h"

enum { BURST = 20000, WARM_UP_ROUNDS = 8 };

static bench_cell *ring;

static void clock_and_store(uint32_t i) {
  bench_floor(ring, i);
}

static void region(uint32_t i) {
  static dft_site site = DFT_SITE("step", "bench");
  (void)i;
  dft_region_begin(&site);
  dft_region_end();
}

static void region_args(uint32_t i) {
  static dft_site site = DFT_SITE("step_args", "bench");
  dft_region_begin(&site);
  dft_update_int("iteration", i);
  dft_update_string("phase", "forward");
  dft_region_end();
}

static void region_keys(uint32_t i) {
  static dft_site site = DFT_SITE("step_keys", "bench");
  static dft_key iteration = DFT_KEY("iteration");
  static dft_key phase = DFT_KEY("phase");
  dft_arg number = {.key = &iteration, .type = DFT_INT, .value.i = i};
  dft_arg text = {.key = &phase, .type = DFT_STRING, .value.s = {"forward", 7}};
  dft_region_begin(&site);
  if (dft_active) dft_update_arg(0, &number);
  if (dft_active) dft_update_arg(0, &text);
  dft_region_end();
}

static void region_named(uint32_t i) {
  (void)i;
  dft_region_begin_named("step_named", "bench");
  dft_region_end();
}

/* As codes annotated for DFTracer do it. */
static void macros(uint32_t i) {
  (void)i;
  DFTRACER_C_REGION_START(step_macros);
  DFTRACER_C_REGION_END(step_macros);
}

static void macros_args(uint32_t i) {
  DFTRACER_C_REGION_START(step_macros);
  DFTRACER_C_REGION_UPDATE_INT(step_macros, "iteration", i);
  DFTRACER_C_REGION_UPDATE_STR(step_macros, "phase", "forward");
  DFTRACER_C_REGION_END(step_macros);
}

static void record(uint32_t i) {
  static dft_site site = DFT_SITE("read", "bench");
  (void)i;
  uint64_t begin = dft_ticks();
  dft_record(&site, begin, dft_ticks(), NULL, 0);
}

/* Each burst has a loop of its own, so that the call is inlined as in a program. */
#define BURST_OF(function)                            \
  static double burst_##function(void) {              \
    uint64_t start = bench_now_ns();                  \
    for (uint32_t i = 0; i < BURST; i++) function(i); \
    return (double)(bench_now_ns() - start) / BURST;  \
  }

BURST_OF(clock_and_store)
BURST_OF(region)
BURST_OF(region_args)
BURST_OF(region_keys)
BURST_OF(region_named)
BURST_OF(record)
BURST_OF(macros)
BURST_OF(macros_args)

static const struct {
  const char *name;
  double (*burst)(void);
} kinds[] = {
  {"floor", burst_clock_and_store},
  {"region", burst_region},
  {"region_args", burst_region_args},
  {"region_keys", burst_region_keys},
  {"region_named", burst_region_named},
  {"record", burst_record},
  {"macros", burst_macros},
  {"macros_args", burst_macros_args},
};

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 31;
  ring = bench_ring();
  bench_use_core(0);
  burst_region(); /* makes the drain's thread, which stays there */
  bench_settle();
  bench_use_core(1);
  for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
      double before = bench_probe();
      double ns = kinds[k].burst();
      double after = bench_probe();
      if (round >= 0) bench_print_probed(kinds[k].name, ns, before > after ? before : after);
      bench_settle();
    }
  }
  bench_require(dft_active, "tracing is off");
  bench_print("dropped", (double)dft_dropped());
  bench_print("is_tsc", dft_tsc_until != 0);
  free(ring);
  return dft_stop() == DFT_OK ? 0 : 1;
}
