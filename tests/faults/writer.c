/* writer.c - records events on four threads until it is killed, and acknowledges every call that has returned.
 *
 *   writer PAGE PAUSE [CYCLE]
 *
 * PAUSE is work between two events, in turns of a loop. With CYCLE the threads record that many events, the trace is
 * stopped and a new one is started, again and again. Every event carries its number in `n`, from 1 on for each thread.
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "acknowledge.h"

static acknowledge_page *page;
static uint64_t pause_turns;
static uint64_t cycle_events;
static pthread_barrier_t barrier;

static dft_site life = DFT_SITE("life", "test");
static dft_site short_site = DFT_SITE("short", "test");
static dft_site long_site = DFT_SITE("long", "test");
static dft_site complete = DFT_SITE("complete", "test");
static dft_key number = DFT_KEY("n");

static void work(void) {
  for (volatile uint64_t turn = 0; turn < pause_turns; turn = turn + 1) continue;
}

static void record_region(acknowledged *own, uint64_t n, int is_long) {
  static const char text[] =
    "a text that does not fit into the first cell of a record, nor into the second one: it needs a few";
  dft_region_begin(is_long ? &long_site : &short_site);
  dft_update_int("n", (int64_t)n);
  atomic_store(&own->begun, n);
  if (is_long) dft_update_string("text", text);
  work();
  dft_region_end();
}

static void record(acknowledged *own, uint64_t n) {
  dft_arg arg = {.key = &number, .type = DFT_UINT, .value.u = n};
  switch (n % 4) {
    case 0: record_region(own, n, 1); break;
    case 1: record_region(own, n, 0); break;
    case 2: dft_instant_n("instant", 7, "test", 4, &arg, 1); break;
    default: {
      uint64_t begin = dft_ticks();
      dft_record(&complete, begin, dft_ticks(), &arg, 1);
    }
  }
  atomic_store(&own->done, n);
  work();
}

static void *run(void *argument) {
  acknowledged *own = argument;
  atomic_store(&own->tid, (uint64_t)syscall(SYS_gettid));
  if (!cycle_events) {
    dft_region_begin(&life);
    atomic_store(&own->life, 1);
  }
  for (uint64_t n = 1;; n++) {
    record(own, n);
    if (cycle_events && n % cycle_events == 0) {
      pthread_barrier_wait(&barrier);
      pthread_barrier_wait(&barrier);
    }
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t thread[ACKNOWLEDGE_THREADS];
  if (argc < 3) return 2;
  page = acknowledge_open(argv[1]);
  pause_turns = strtoull(argv[2], NULL, 10);
  if (argc > 3) cycle_events = strtoull(argv[3], NULL, 10);
  pthread_barrier_init(&barrier, NULL, ACKNOWLEDGE_THREADS + 1);
  for (int i = 0; i < ACKNOWLEDGE_THREADS; i++) pthread_create(&thread[i], NULL, run, &page->thread[i]);
  while (cycle_events) {
    pthread_barrier_wait(&barrier);
    dft_stop();
    atomic_fetch_add(&page->cycles, 1);
    dft_start(NULL);
    pthread_barrier_wait(&barrier);
  }
  for (int i = 0; i < ACKNOWLEDGE_THREADS; i++) pthread_join(thread[i], NULL);
  return 0;
}
