/* busy.c - two threads with open regions record until stdin ends, for tests of dftracer top.
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static atomic_int is_over;

static void *work(void *context) {
  const struct timespec pause = {0, 1000000};
  (void)context;
  dft_region_begin_named("worker loop", "test");
  while (!is_over) {
    dft_instant("tick", "test");
    nanosleep(&pause, NULL);
  }
  dft_region_end();
  return NULL;
}

int main(void) {
  pthread_t thread;
  dft_region_begin_named("outer", "test");
  for (int i = 0; i < 100; i++) dft_instant("first", "test");
  pthread_create(&thread, NULL, work, NULL);
  dft_region_begin_named("inner gr\xc3\xb6\xc3\x9f"
                         "e",
                         "test");
  puts("ready");
  fflush(stdout);
  (void)getchar();
  is_over = 1;
  pthread_join(thread, NULL);
  dft_region_end();
  dft_region_end();
  return 0;
}
