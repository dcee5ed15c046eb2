/* memory.c - private memory of a process whose threads all record, beside the pages of the spool.
 *
 * Usage: memory THREADS. Prints the largest of many looks, while the threads record and once they are done, in KiB. Run
 * it with and without DFTRACER_ENABLE=1; the difference is what tracing takes. SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdatomic.h>

#include "bench.h"

enum { EVENTS = 3000000, THREADS_MAX = 1024 }; /* more than the spool holds: producers have to assist, too */

static int events_each;
static _Atomic int done;
static pthread_barrier_t over;

static void *work(void *argument) {
  static dft_site site = DFT_SITE("work", "bench");
  (void)argument;
  for (int i = 0; i < events_each; i++) {
    dft_region_begin(&site);
    dft_update_int("iteration", i);
    dft_region_end();
  }
  atomic_fetch_add(&done, 1);
  pthread_barrier_wait(&over); /* threads stay until the last look */
  return NULL;
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 1;
  static pthread_t thread[THREADS_MAX];
  double private_kib = 0;
  double spool_kib = 0;
  bench_require(threads >= 1 && threads <= THREADS_MAX, "1 to 1024 threads");
  events_each = EVENTS / threads;
  pthread_barrier_init(&over, NULL, (unsigned)threads + 1);
  for (int i = 0; i < threads; i++) bench_require(pthread_create(&thread[i], NULL, work, NULL) == 0, "no thread");
  for (int is_last = 0; !is_last;) {
    is_last = done == threads;
    bench_memory memory = bench_memory_now();
    if (memory.private_kib > private_kib) private_kib = memory.private_kib;
    if (memory.spool_kib > spool_kib) spool_kib = memory.spool_kib;
    bench_sleep_ms(10);
  }
  pthread_barrier_wait(&over);
  for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
  bench_print("private_kib", private_kib);
  bench_print("spool_kib", spool_kib);
  bench_print("dropped", (double)dft_dropped());
  dft_stop();
  return 0;
}
