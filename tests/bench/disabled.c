/* disabled.c - what a region costs while tracing is off: in turn with a loop that does nothing.
 *
 * Usage: disabled ROUNDS. Prints nanoseconds a round of the loop. Run it without DFTRACER_ENABLE.
 * SPDX-License-Identifier: MIT */
#include "bench.h"

enum { BURST = 1000000, WARM_UP_ROUNDS = 3 };

/* The body of a region, and of the empty loop: the compiler may remove neither. */
#define BODY() __asm__ volatile("" ::: "memory")

static double empty(void) {
  uint64_t start = bench_now_ns();
  for (uint32_t i = 0; i < BURST; i++) BODY();
  return (double)(bench_now_ns() - start) / BURST;
}

static double region(void) {
  static dft_site site = DFT_SITE("step", "bench");
  uint64_t start = bench_now_ns();
  for (uint32_t i = 0; i < BURST; i++) {
    dft_region_begin(&site);
    BODY();
    dft_region_end();
  }
  return (double)(bench_now_ns() - start) / BURST;
}

static double region_args(void) {
  static dft_site site = DFT_SITE("step", "bench");
  uint64_t start = bench_now_ns();
  for (uint32_t i = 0; i < BURST; i++) {
    dft_region_begin(&site);
    dft_update_int("iteration", i);
    dft_update_string("phase", "forward");
    BODY();
    dft_region_end();
  }
  return (double)(bench_now_ns() - start) / BURST;
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 31;
  for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
    double none = empty();
    double plain = region();
    double args = region_args();
    if (round < 0) continue;
    bench_print("empty", none);
    bench_print("region", plain);
    bench_print("region_args", args);
  }
  bench_require(!dft_is_enabled(), "tracing is on");
  return 0;
}
