/* leaver.c - records on four threads, acknowledges every call that has returned, and calls exit in the middle of it.
 *
 *   leaver PAGE EVENTS      exits when one thread has recorded so many
 *
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "acknowledge.h"

static dft_site step = DFT_SITE("step", "test");

static void *run(void *argument) {
  acknowledged *own = argument;
  atomic_store(&own->tid, (uint64_t)syscall(SYS_gettid));
  for (uint64_t n = 1;; n++) {
    dft_region_begin(&step);
    dft_update_int("n", (int64_t)n);
    dft_region_end();
    atomic_store(&own->done, n);
  }
  return NULL;
}

int main(int argc, char **argv) {
  acknowledge_page *page;
  pthread_t thread;
  uint64_t events;
  if (argc < 3) return 2;
  page = acknowledge_open(argv[1]);
  events = strtoull(argv[2], NULL, 10);
  for (int i = 0; i < ACKNOWLEDGE_THREADS; i++) pthread_create(&thread, NULL, run, &page->thread[i]);
  while (atomic_load(&page->thread[0].done) < events) usleep(1000);
  exit(0);
}
