/* die.c - records three events in the trace that the environment names, and is killed; with an argument it waits instead
 * until its stdin ends.
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  (void)argv;
  dft_instant("first", "test");
  dft_instant("second", "test");
  dft_region_begin_named("open", "test");
  if (argc == 1) return kill(getpid(), SIGKILL);
  puts("ready");
  fflush(stdout);
  return getchar() == EOF ? 0 : 1;
}
