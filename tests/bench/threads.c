/* threads.c - the CPU time a region costs its thread, alone and beside a second recording thread, in turn.
 *
 * Usage: threads ROUNDS. Prints nanoseconds of thread CPU time a region. Run it with DFTRACER_ENABLE=1 and
 * DFTRACER_SINK=null. The floor is measured in the same way: what it grows by with two threads is the machine's part.
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdatomic.h>

#include "bench.h"

enum { BURST = 100000, WARM_UP_ROUNDS = 5 };

static pthread_barrier_t begin_barrier, end_barrier;
static _Atomic int is_over;
static int with_floor;     /* what the next burst does; the barriers order it */
static int thread_count;   /* how many take part in it */
static double burst_ns[2]; /* of each thread, a region */

static double burst(bench_cell *ring) {
  static dft_site site = DFT_SITE("step", "bench");
  uint64_t start = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
  if (with_floor) {
    for (uint32_t i = 0; i < BURST; i++) bench_floor(ring, i);
  } else {
    for (uint32_t i = 0; i < BURST; i++) {
      dft_region_begin(&site);
      dft_region_end();
    }
  }
  return (double)(bench_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) / BURST;
}

static void *work(void *argument) {
  int self = *(int *)argument;
  bench_cell *ring = bench_ring();
  for (;;) {
    pthread_barrier_wait(&begin_barrier);
    if (is_over) break;
    if (self < thread_count) burst_ns[self] = burst(ring);
    pthread_barrier_wait(&end_barrier);
  }
  free(ring);
  return NULL;
}

/* The mean of the threads that took part. */
static double measure(int threads, int is_floor) {
  thread_count = threads;
  with_floor = is_floor;
  pthread_barrier_wait(&begin_barrier);
  pthread_barrier_wait(&end_barrier);
  bench_settle();
  return threads == 1 ? burst_ns[0] : (burst_ns[0] + burst_ns[1]) / 2;
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 31;
  int index[2] = {0, 1};
  pthread_t thread[2];
  pthread_barrier_init(&begin_barrier, NULL, 3);
  pthread_barrier_init(&end_barrier, NULL, 3);
  for (int i = 0; i < 2; i++) {
    bench_require(pthread_create(&thread[i], NULL, work, &index[i]) == 0, "no thread");
  }
  for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
    double one = measure(1, 0);
    double two = measure(2, 0);
    double floor_one = measure(1, 1);
    double floor_two = measure(2, 1);
    if (round < 0) continue;
    bench_print("one", one);
    bench_print("two", two);
    bench_print("floor_one", floor_one);
    bench_print("floor_two", floor_two);
  }
  is_over = 1;
  pthread_barrier_wait(&begin_barrier);
  for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
  bench_require(dft_active, "tracing is off");
  bench_print("dropped", (double)dft_dropped());
  return dft_stop() == DFT_OK ? 0 : 1;
}
