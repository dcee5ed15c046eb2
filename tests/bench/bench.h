/* bench.h - what the benchmark programs share: clocks, the random numbers of a seed, memory by mapping, and output.
 *
 * A program prints one line for each sample, "<name> <number>"; run.py gathers the samples of a name. A sample may have
 * a probe: how fast the core was before and after it, the slower of the two.
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_H
#define BENCH_H

#ifndef BENCH_PEER
#include <dftracer/dft.h>
#endif
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline void bench_print(const char *name, double value) {
  printf("%s %.6g\n", name, value);
}

static inline void bench_print_probed(const char *name, double value, double probe) {
  printf("%s %.6g\n%s.probe %.6g\n", name, value, name, probe);
}

static inline void bench_require(int condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "bench: %s\n", what);
  exit(1);
}

/* ---- Clocks ---- */

static inline uint64_t bench_clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t bench_now_ns(void) {
  return bench_clock_ns(CLOCK_MONOTONIC);
}

static inline void bench_sleep_ms(long ms) {
  struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);
}

/* Waits, two seconds at most, until no thread of the process is at work for so long: the drain has caught up with a burst. */
static inline void bench_settle_ms(long ms) {
  for (long waited = 0; waited < 2000; waited += ms) {
    uint64_t before = bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    bench_sleep_ms(ms);
    if (bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before < (uint64_t)ms * 25000) return;
  }
}

static inline void bench_settle(void) {
  bench_settle_ms(20);
}

/* ---- Cores ---- */

/* Moves this thread, and what it will make, to the first or second core that the process may use. */
static inline void bench_use_core(int which) {
  static cpu_set_t all;
  cpu_set_t one;
  if (CPU_COUNT(&all) == 0) sched_getaffinity(0, sizeof all, &all);
  if (CPU_COUNT(&all) < 2) return;
  CPU_ZERO(&one);
  for (int core = 0; core < CPU_SETSIZE; core++) {
    if (CPU_ISSET(core, &all) && which-- == 0) CPU_SET(core, &one);
  }
  sched_setaffinity(0, sizeof one, &one);
}

/* How fast the core is just now: nanoseconds of a loop of about 50 us that keeps its arithmetic units busy. On a shared
 * machine a neighbour on the same core may halve the speed of such code, and hardly change that of reading the clock. */
static inline double bench_probe(void) {
  uint64_t a = 1, b = 2, c = 3, d = 4;
  uint64_t start = bench_now_ns();
  for (uint64_t i = 0; i < 50000; i++) {
    a += b ^ i, b += c ^ i, c += d ^ i, d += a ^ i;
    __asm__ volatile("" ::"r"(a), "r"(b));
  }
  return (double)(bench_now_ns() - start);
}

/* ---- The floor: what recording cannot do without ---- */

enum { BENCH_RING_CELLS = 1 << 16 }; /* 4 MiB, about what a burst writes */

typedef struct bench_cell {
  uint64_t word[8];
} bench_cell;

/* Two reads of the clock and one store of 64 bytes into the ring. */
static inline void bench_floor(bench_cell *ring, uint32_t i) {
  uint64_t start = bench_now_ns();
  __asm__ volatile("" ::: "memory");
  uint64_t end = bench_now_ns();
  ring[i % BENCH_RING_CELLS] = (bench_cell){{i, start, end, i, 0, 1, 0, 0}};
  __asm__ volatile("" ::: "memory");
}

/* A ring whose pages are present. */
static inline bench_cell *bench_ring(void) {
  bench_cell *ring = aligned_alloc(64, BENCH_RING_CELLS * sizeof(bench_cell));
  bench_require(ring != NULL, "no memory");
  memset(ring, 1, BENCH_RING_CELLS * sizeof(bench_cell));
  return ring;
}

/* ---- Random numbers of a seed (xorshift64*) ---- */

static inline uint64_t bench_random(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * 2685821657736338717u;
}

/* ---- Memory of this process, from /proc/self/smaps ---- */

typedef struct bench_memory {
  double rss_kib;     /* beside the spool */
  double private_kib; /* beside the spool */
  double spool_kib;   /* resident pages of the spool */
} bench_memory;

static inline bench_memory bench_memory_now(void) {
  bench_memory memory = {0, 0, 0};
  char line[8192];
  int is_spool = 0;
  FILE *file = fopen("/proc/self/smaps", "r");
  bench_require(file != NULL, "/proc/self/smaps cannot be read");
  while (fgets(line, sizeof line, file)) {
    double kib;
    char field[32];
    if (sscanf(line, "%31[A-Za-z_]: %lf kB", field, &kib) != 2) {
      if (strchr(line, '-')) is_spool = strstr(line, ".dftracer") || strstr(line, ".spool");
    } else if (strcmp(field, "Rss") == 0) {
      *(is_spool ? &memory.spool_kib : &memory.rss_kib) += kib;
    } else if (!is_spool && strncmp(field, "Private_", 8) == 0) {
      memory.private_kib += kib;
    }
  }
  fclose(file);
  return memory;
}

#endif
