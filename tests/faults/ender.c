/* ender.c - records 50,000 events, leaves a region open, and ends in the manner its argument says; never calls dft_stop.
 *
 *   ender MANNER [PROGRAM [ARGUMENT...]]     exec: of this program
 *
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define EVENTS 50000
#define STATUS 42

static dft_site step = DFT_SITE("step", "test");
static dft_site around = DFT_SITE("around", "test");

static void record_events(void) {
  dft_region_begin(&around);
  dft_update_string("state", "not ended");
  for (int n = 1; n <= EVENTS; n++) {
    dft_region_begin(&step);
    dft_update_int("n", n);
    dft_region_end();
  }
}

static void *exit_from_thread(void *unused) {
  (void)unused;
  exit(STATUS);
}

/* The other threads outlive the main one, and record. */
static void *record_late(void *unused) {
  (void)unused;
  usleep(20000);
  dft_instant("late", "test");
  exit(STATUS);
}

static void end_by_thread(void *(*run)(void *)) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  if (run == record_late) pthread_exit(NULL);
  pthread_join(thread, NULL);
}

static void segfault(void) {
  volatile int *nowhere = NULL;
  *nowhere = 1;
}

int main(int argc, char **argv) {
  const char *manner = argc > 1 ? argv[1] : "return";
  record_events();
  if (strcmp(manner, "exit") == 0) exit(STATUS);
  if (strcmp(manner, "_exit") == 0) _exit(STATUS);
  if (strcmp(manner, "quick_exit") == 0) quick_exit(STATUS);
  if (strcmp(manner, "abort") == 0) abort();
  if (strcmp(manner, "term") == 0) kill(getpid(), SIGTERM);
  if (strcmp(manner, "segv") == 0) segfault();
  if (strcmp(manner, "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(manner, "thread") == 0) end_by_thread(exit_from_thread);
  if (strcmp(manner, "late") == 0) end_by_thread(record_late);
  if (strcmp(manner, "exec") == 0) {
    execv(argv[2], argv + 2);
    return 126;
  }
  return STATUS;
}
