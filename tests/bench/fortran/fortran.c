/* fortran.c - what a region costs in a Fortran loop, in turn with the same region in a C loop by handle.
 *
 * Usage: fortran ROUNDS. Run it with DFTRACER_ENABLE=1 and DFTRACER_SINK=null, or with nothing for the cost switched off.
 * Prints and measures as region.c does.
 * SPDX-License-Identifier: MIT */
#include "../bench.h"

enum { BURST = 20000, WARM_UP_ROUNDS = 8 };

void fortran_by_handle(int32_t count);
void fortran_by_name(int32_t count);
void fortran_by_handle_args(int32_t count);

static void nothing(int32_t count) {
  for (int32_t i = 0; i < count; i++) __asm__ volatile("" ::: "memory");
}

static void c_by_handle(int32_t count) {
  static dft_site site = DFT_SITE("step", "bench");
  for (int32_t i = 0; i < count; i++) {
    dft_region_begin(&site);
    dft_region_end();
  }
}

static void c_by_handle_args(int32_t count) {
  static dft_site site = DFT_SITE("step_args", "bench");
  for (int32_t i = 0; i < count; i++) {
    dft_region_begin(&site);
    dft_update_int("iteration", i);
    dft_update_string("phase", "forward");
    dft_region_end();
  }
}

static const struct {
  const char *name;
  void (*burst)(int32_t count);
} kinds[] = {
  {"empty", nothing},        {"c", c_by_handle},           {"handle", fortran_by_handle},
  {"name", fortran_by_name}, {"c_args", c_by_handle_args}, {"handle_args", fortran_by_handle_args},
};

static double run(size_t kind) {
  uint64_t start = bench_now_ns();
  kinds[kind].burst(BURST);
  return (double)(bench_now_ns() - start) / BURST;
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 31;
  bench_use_core(0);
  run(1); /* makes the drain's thread, which stays there */
  bench_settle();
  bench_use_core(1);
  for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
      double before = bench_probe();
      double ns = run(k);
      double after = bench_probe();
      if (round >= 0) bench_print_probed(kinds[k].name, ns, before > after ? before : after);
      if (dft_active) bench_settle();
    }
  }
  dft_stop();
  return 0;
}
