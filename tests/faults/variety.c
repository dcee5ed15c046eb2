/* variety.c - records a little of everything that a spool can hold, and kills itself: its spool is what test_damage.py damages.
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void record(int round) {
  static char text[70000];
  char name[300];
  dft_arg args[3] = {
    {.name = "path", .name_len = 4, .type = DFT_PATH, .value.s = {name, 0}},
    {.name = "text", .name_len = 4, .type = DFT_STRING, .value.s = {text, 0}},
    {.name = "number", .name_len = 6, .type = DFT_DOUBLE, .value.d = 0.5 * round},
  };
  memset(text, 'a' + round % 26, sizeof text);
  args[0].value.s.len = (size_t)snprintf(name, sizeof name, "/data/%d/%0*d", round, round % 200, round);
  args[0].path = round % 2 ? dft_path(name, args[0].value.s.len) : 0;
  args[1].value.s.len = round % 50 == 0 ? sizeof text : (size_t)round;
  dft_region_begin_named(name, "test");
  dft_update_int(name, round);
  dft_update_string_n(0, "text", 4, text, args[1].value.s.len);
  dft_instant_n("instant", 7, "test", 4, args, 3);
  dft_counter("counter", "test", round);
  dft_metadata(name, "value");
  dft_log_event("event", "test", dft_time(), 3);
  if (round % 5) dft_region_end();
  dft_app_metadata_int(name, round);
  dft_mark_used("layer");
}

static void *run(void *unused) {
  (void)unused;
  for (int round = 0; round < 100; round++) record(round);
  pause();
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  for (int round = 0; round < 200; round++) record(round);
  usleep(20000);
  kill(getpid(), SIGKILL);
  return 0;
}
