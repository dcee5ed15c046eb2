/* doing.c - does what its arguments say, one after the other, for tests of dftracer run.
 *   event N      records N events        exit N   ends with that status      kill N    dies by that signal
 *   step N       records N regions, each with its number n
 *   other N      records N counter values and N metadata lines
 *   into PATH    starts a trace there
 *   fork         a child records one     wait     says "ready", waits for SIGUSR1, says "got"
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void wait_for_signal(void) {
  sigset_t set;
  int got;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  puts("ready");
  fflush(stdout);
  sigwait(&set, &got);
  puts("got");
  fflush(stdout);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    int number = i + 1 < argc ? atoi(argv[i + 1]) : 0;
    if (strcmp(argv[i], "event") == 0) {
      for (int n = 0; n < number; n++) dft_instant("event", "test");
    } else if (strcmp(argv[i], "step") == 0) {
      for (int n = 1; n <= number; n++) {
        dft_region_begin_named("step", "test");
        dft_update_int("n", n);
        dft_region_end();
      }
    } else if (strcmp(argv[i], "other") == 0) {
      for (int n = 0; n < number; n++) dft_counter("load", "test", n);
      for (int n = 0; n < number; n++) dft_metadata("fact", "value");
    } else if (strcmp(argv[i], "into") == 0 && i + 1 < argc) {
      dft_options options = {.struct_size = sizeof options, .log_file = argv[i + 1]};
      dft_start(&options);
    } else if (strcmp(argv[i], "fork") == 0) {
      pid_t child = fork();
      if (child == 0) {
        dft_instant("child", "test");
        exit(0);
      }
      waitpid(child, NULL, 0);
    } else if (strcmp(argv[i], "wait") == 0) {
      wait_for_signal();
    } else if (strcmp(argv[i], "kill") == 0) {
      kill(getpid(), number);
    } else if (strcmp(argv[i], "exit") == 0) {
      exit(number);
    }
  }
  return 0;
}
