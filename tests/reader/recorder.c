/* recorder.c - records regions on two threads, says so, and waits to be killed or told to end.
 *
 * Usage: recorder EVENTS. SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int events;

static void *record(void *unused) {
  static dft_site site = DFT_SITE("w\xc3\xb6rk", "app");
  (void)unused;
  for (int i = 0; i < events; i++) {
    dft_region_begin(&site);
    dft_update_int("number", i);
    dft_update_string("text", "a\"b");
    dft_region_end();
  }
  return NULL;
}

int main(int argc, char **argv) {
  static dft_site all = DFT_SITE("all", "app");
  pthread_t other;
  events = argc > 1 ? atoi(argv[1]) : 10;
  dft_region_begin(&all);
  pthread_create(&other, NULL, record, NULL);
  record(NULL);
  pthread_join(other, NULL);
  puts("ready");
  fflush(stdout);
  getchar();
  dft_region_end();
  return 0;
}
