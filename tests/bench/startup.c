/* startup.c - a process that records ten events, from start to exit, in turn with the same process not tracing.
 *
 * Usage: startup ROUNDS. Runs itself as `startup child`. Prints microseconds of wall time. Run it without
 * DFTRACER_ENABLE: it sets this for its children, and leaves everything else as it is. SPDX-License-Identifier: MIT */
#include <spawn.h>
#include <sys/wait.h>

#include "bench.h"

enum { WARM_UP_ROUNDS = 5 };

extern char **environ;

static int child(void) {
  static dft_site site = DFT_SITE("step", "bench");
  for (int i = 0; i < 10; i++) {
    dft_region_begin(&site);
    dft_update_int("iteration", i);
    dft_region_end();
  }
  return 0;
}

static double run_child(const char *enable) {
  char *arguments[] = {"startup", "child", NULL};
  pid_t pid;
  int status;
  setenv("DFTRACER_ENABLE", enable, 1);
  uint64_t start = bench_now_ns();
  bench_require(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environ) == 0, "no process");
  bench_require(waitpid(pid, &status, 0) == pid, "no child");
  double us = (double)(bench_now_ns() - start) / 1e3;
  bench_require(status == 0, "the child failed");
  return us;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "child") == 0) return child();
  int rounds = argc > 1 ? atoi(argv[1]) : 300;
  bench_use_core(0); /* the probe's and the children's */
  for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
    double first = bench_probe();
    double off = run_child("0");
    double between = bench_probe();
    double on = run_child("1");
    double last = bench_probe();
    if (round < 0) continue;
    bench_print_probed("off", off, first > between ? first : between);
    bench_print_probed("on", on, between > last ? between : last);
  }
  return 0;
}
