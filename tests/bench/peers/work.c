/* work.c - the same work for dftracer and its peers; peers.py compiles it for each, and runs them in turn.
 *
 * Usage: work bursts ROUNDS    nanoseconds a region, without arguments and with an int and a string, as samples
 *        work threads ROUNDS   CPU time of a region while one and two threads record
 *        work events COUNT     that many regions with arguments, and no output
 * PEER_LTTNG: two tracepoints are a region. Else dftracer.h, ours or that of DFTracer.
 * SPDX-License-Identifier: MIT */
#define BENCH_PEER
#include <pthread.h>

#include "../bench.h"

#ifdef PEER_LTTNG
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng.h"
#define OPEN()
#define CLOSE()
#define REGION()                              \
  lttng_ust_tracepoint(bench, begin, "step"); \
  lttng_ust_tracepoint(bench, end)
#define REGION_ARGS(i)                        \
  lttng_ust_tracepoint(bench, begin, "step"); \
  lttng_ust_tracepoint(bench, end_args, (i), "forward")
#else
#include <dftracer/dftracer.h>
#define OPEN() DFTRACER_C_INIT_NO_BIND(NULL, NULL, NULL)
#define CLOSE() DFTRACER_C_FINI()
#define REGION()                 \
  DFTRACER_C_REGION_START(step); \
  DFTRACER_C_REGION_END(step)
#define REGION_ARGS(i)                                    \
  DFTRACER_C_REGION_START(step);                          \
  DFTRACER_C_REGION_UPDATE_INT(step, "iteration", (i));   \
  DFTRACER_C_REGION_UPDATE_STR(step, "phase", "forward"); \
  DFTRACER_C_REGION_END(step)
#endif

enum { BURST = 20000, WARM_UP_ROUNDS = 2 };

static void region(int i) {
  (void)i;
  REGION();
}

static void region_args(int i) {
  REGION_ARGS(i);
}

static double burst(void (*one)(int i), clockid_t clock) {
  uint64_t start = bench_clock_ns(clock);
  for (int i = 0; i < BURST; i++) one(i);
  return (double)(bench_clock_ns(clock) - start) / BURST;
}

static void bursts(int rounds) {
  for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
    double plain = burst(region, CLOCK_MONOTONIC);
    bench_settle();
    double args = burst(region_args, CLOCK_MONOTONIC);
    bench_settle();
    if (round < 0) continue;
    bench_print("region", plain);
    bench_print("region_args", args);
  }
}

static pthread_barrier_t barrier;

static void *thread_burst(void *result) {
  pthread_barrier_wait(&barrier);
  *(double *)result = burst(region, CLOCK_THREAD_CPUTIME_ID);
  return NULL;
}

static double on_threads(unsigned count) {
  pthread_t threads[2];
  double results[2] = {0, 0};
  pthread_barrier_init(&barrier, NULL, count);
  for (unsigned i = 0; i < count; i++)
    bench_require(!pthread_create(&threads[i], NULL, thread_burst, &results[i]), "thread");
  for (unsigned i = 0; i < count; i++) pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&barrier);
  return (results[0] + results[1]) / count;
}

static void threads(int rounds) {
  for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
    double one = on_threads(1);
    bench_settle();
    double two = on_threads(2);
    bench_settle();
    if (round < 0) continue;
    bench_print("one", one);
    bench_print("two", two);
  }
}

int main(int argc, char **argv) {
  bench_require(argc == 3, "usage: work bursts|threads|events NUMBER");
  OPEN();
  if (strcmp(argv[1], "bursts") == 0) bursts(atoi(argv[2]));
  else if (strcmp(argv[1], "threads") == 0) threads(atoi(argv[2]));
  else
    for (int i = 0; i < atoi(argv[2]); i++) region_args(i);
  CLOSE();
  return 0;
}
