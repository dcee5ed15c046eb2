/* sustained.c - regions in a tight loop, far more than the spool holds.
 *
 * Usage: sustained EVENTS THREADS. Prints the memory at each quarter of the events, and the events dropped. The rest is
 * seen from outside: what is in the trace, and the CPU time of the whole process. SPDX-License-Identifier: MIT */
#include <pthread.h>

#include "bench.h"

enum { QUARTERS = 4, THREADS_MAX = 64 };

static uint64_t events_each;
static pthread_barrier_t quarter;

static void *work(void *argument) {
  static dft_site site = DFT_SITE("sustained", "bench");
  (void)argument;
  for (int q = 0; q < QUARTERS; q++) {
    uint64_t count = events_each * (unsigned)(q + 1) / QUARTERS - events_each * (unsigned)q / QUARTERS;
    for (uint64_t i = 0; i < count; i++) {
      dft_region_begin(&site);
      dft_region_end();
    }
    pthread_barrier_wait(&quarter); /* complete: main looks at the memory */
    pthread_barrier_wait(&quarter);
  }
  return NULL;
}

int main(int argc, char **argv) {
  uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
  int threads = argc > 2 ? atoi(argv[2]) : 1;
  pthread_t thread[THREADS_MAX];
  bench_require(threads >= 1 && threads <= THREADS_MAX, "1 to 64 threads");
  events_each = events / (unsigned)threads;
  pthread_barrier_init(&quarter, NULL, (unsigned)threads + 1);
  uint64_t start = bench_now_ns();
  for (int i = 0; i < threads; i++) bench_require(pthread_create(&thread[i], NULL, work, NULL) == 0, "no thread");
  for (int q = 0; q < QUARTERS; q++) {
    pthread_barrier_wait(&quarter);
    bench_memory memory = bench_memory_now();
    bench_print("rss_kib", memory.rss_kib);
    bench_print("spool_kib", memory.spool_kib);
    pthread_barrier_wait(&quarter);
  }
  for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
  bench_print("record_s", (double)(bench_now_ns() - start) / 1e9);
  bench_require(dft_active, "tracing is off");
  bench_print("dropped", (double)dft_dropped());
  printf("recorded %llu\n", (unsigned long long)(events_each * (unsigned)threads));
  dft_stop();
  bench_print("stop_s", (double)(bench_now_ns() - start) / 1e9);
  return 0;
}
