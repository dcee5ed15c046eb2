/* sample.c - what the samples of 5.0 hold: every kind of event and argument, and numbered regions of two threads.
 *
 *   sample        ends in an orderly way
 *   sample kill   is killed inside the region `open`, once a part of its events is in the live output
 *
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int64_t count =
  100; /* regions of each thread; a killed one makes enough for the background thread to write some */

static dft_site step = DFT_SITE("step", "test");
static dft_site open_site = DFT_SITE("open", "test");

static void *record_steps(void *first) {
  for (int64_t n = 1; n <= count; n++) {
    dft_region_begin(&step);
    dft_update_int("n", (intptr_t)first + n);
    dft_region_end();
  }
  return NULL;
}

static void await_output(void) {
  struct stat facts = {0};
  glob_t found;
  while (facts.st_size < 1000) {
    usleep(10000);
    if (glob(".dftracer/*.0-*", 0, NULL, &found) == 0) stat(found.gl_pathv[0], &facts);
  }
}

int main(int argc, char **argv) {
  int is_killed = argc > 1 && strcmp(argv[1], "kill") == 0;
  pthread_t thread;
  if (is_killed) count = 3500;
  dft_metadata("note", "a sample");
  dft_region_begin(dft_site_declare_n("everything", 10, "test", 4));
  dft_update_int("int", -7);
  dft_update_double("double", 0.25);
  dft_update_string("string", "caf\xc3\xa9 \"quoted\"\n");
  dft_instant("now", "test");
  dft_counter("level", "test", 2.5);
  dft_region_end();
  pthread_create(&thread, NULL, record_steps, (void *)(intptr_t)count);
  pthread_join(thread, NULL);
  record_steps(NULL);
  if (is_killed) {
    dft_region_begin(&open_site);
    dft_update_string("why", "killed");
    await_output();
    raise(SIGKILL);
  }
  return 0;
}
