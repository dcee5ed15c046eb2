/* clock.c - which clock, and how it is kept in step with the kernel's.
 * SPDX-License-Identifier: MIT */
#include "clock.h"

#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "base/config.h"
#include "base/log.h"
#include "base/signals.h"
#include "clockmap.h"
#include "gate.h"
#include "hooks.h"

#define PERIOD_TICKS (UINT64_C(1) << 28) /* between comparisons: 50 to 270 ms */
#define TRIES 5                          /* the best of these counts */
#define WIDTH_MOST 8192u                 /* ticks: a slower comparison was interrupted, and is useless */

uint64_t dft_tsc_until;
uint64_t dft__tsc_until;

enum trust { UNKNOWN, NONE, PROCESSOR, KERNEL }; /* what vouches for a counter that is steady and equal on all cores */

/* LOST: the counter stepped back; the line from `lost` on, whose ns are those of CLOCK_MONOTONIC, takes its place. */
enum mode { UNDECIDED, MONOTONIC, COUNTER, LOST };

static struct {
  _Atomic uint32_t trust;
  _Atomic uint32_t mode;
  _Atomic uint32_t is_ordered; /* every read goes through dft_ticks */
  _Atomic uint64_t due;        /* ticks of the next comparison */
  _Atomic uint32_t lock;       /* of the map */
  _Atomic(dft__header *) header;
  pid_t pid;
  _Atomic uint64_t rate; /* of the last session: a forked child begins with it */
  dft__knot lost;
} clocks;

static void set_due(uint64_t ticks) {
  uint64_t until = DFT__GET(clocks.is_ordered) ? 0 : ticks;
  DFT__SET(clocks.due, ticks);
  __atomic_store_n(&dft__tsc_until, until, __ATOMIC_RELAXED);
  __atomic_store_n(&dft_tsc_until, until, __ATOMIC_RELAXED);
}

/* ---- Which clock -------------------------------------------------------------------------------------------------- */

#ifdef __x86_64__
/* The kernel watches the counter as long as it keeps time by it, and turns away from one that is not the same everywhere. */
static int is_clock_of_kernel(void) {
  char name[8] = "";
  int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t len = read(fd, name, sizeof name - 1);
  close(fd);
  return len == 4 && memcmp(name, "tsc\n", 4) == 0;
}

/* Runs at one speed in all states of power; every 64-bit processor has this leaf. */
static int is_invariant(void) {
  unsigned a, b, c, d;
  __cpuid(0x80000007, a, b, c, d);
  return (int)(d >> 8 & 1);
}

static int is_permitted(void) {
  int mode = PR_TSC_ENABLE;
  return prctl(PR_GET_TSC, &mode) != 0 || mode == PR_TSC_ENABLE;
}

static enum trust find_trust(void) {
  if (!is_permitted() || !is_invariant()) return NONE;
  return is_clock_of_kernel() ? KERNEL : PROCESSOR;
}

/* After everything that comes before it. */
static uint64_t ordered_counter(void) {
  __builtin_ia32_lfence();
  return __builtin_ia32_rdtsc();
}
#else
static enum trust find_trust(void) {
  return NONE;
}
static uint64_t ordered_counter(void) {
  return 0;
}
#endif

void dft__clock_choose(void) {
  enum { AUTO, TSC, KERNELS };        /* DFTRACER_CLOCK */
  enum { MICROSECONDS, NANOSECONDS }; /* DFTRACER_TIME_METRIC */
  int64_t choice = dft__config_number(DFT__CLOCK);
  enum trust trust = (enum trust)DFT__GET(clocks.trust);
  if (trust == UNKNOWN && choice != KERNELS) DFT__SET(clocks.trust, trust = find_trust());
  if (choice == TSC && trust == NONE) {
    dft__log_config(DFT__CLOCK, "DFTRACER_CLOCK=tsc: this processor has no invariant time stamp counter; using "
                                "CLOCK_MONOTONIC");
  }
  int is_tsc = choice == AUTO ? trust == KERNEL : choice == TSC && trust >= PROCESSOR;
  DFT__SET(clocks.is_ordered, dft__config_number(DFT__TIME_METRIC) == NANOSECONDS);
  set_due(is_tsc ? ordered_counter() + PERIOD_TICKS : 0);
  DFT__RELEASE(clocks.mode, is_tsc ? COUNTER : MONOTONIC);
}

/* ---- Comparing ---------------------------------------------------------------------------------------------------- */

/* What to add to CLOCK_MONOTONIC to get the epoch. */
static int64_t epoch_offset(void) {
  uint64_t best = UINT64_MAX;
  int64_t offset = 0;
  for (int i = 0; i < TRIES; i++) {
    uint64_t before = dft__clock_ns(), epoch = dft__clock_read(CLOCK_REALTIME), after = dft__clock_ns();
    if (after - before < best) {
      best = after - before;
      offset = (int64_t)(epoch - (before + best / 2));
    }
  }
  return offset;
}

/* Zero when nothing useful came of it. */
static int compare(dft__sample *sample, int64_t offset) {
  uint64_t best = UINT64_MAX;
  for (int i = 0; i < TRIES; i++) {
    uint64_t before = ordered_counter(), ns = dft__clock_ns(), width = ordered_counter() - before;
    if (width < best) {
      best = width;
      *sample = (dft__sample){before + width / 2, ns + (uint64_t)offset, width / 2}; /* a tick is less than 1 ns */
    }
  }
  return best <= WIDTH_MOST;
}

/* The age of a map, but no more than a period: young ones are compared more often. */
static uint64_t pace(const dft__clock_map *map, uint64_t now) {
  uint64_t age = now - map->knots[0].ticks;
  return age < PERIOD_TICKS ? age : PERIOD_TICKS;
}

/* A machine that slept may have lost its counter. The line goes on as before, at the kernel's pace. */
static void replace_counter(const dft__header *header) {
  const dft__clock_map *map = &header->clock;
  uint64_t rate = map->knots[DFT__GET(map->count) - 1].rate;
  clocks.lost = (dft__knot){map->settled, dft__epoch_ns(map, map->settled) - (uint64_t)header->epoch_offset_ns, rate};
  set_due(0);
  if (rate) DFT__RELEASE(clocks.mode, LOST);
}

/* With the lock. */
static void step(dft__header *header, int is_due) {
  dft__clock_map *map = &header->clock;
  uint64_t now = ordered_counter();
  dft__sample sample;
  if (DFT__GET(clocks.mode) != COUNTER) return;
  if (now + PERIOD_TICKS < map->settled) {
    replace_counter(header);
    return;
  }
  set_due(now + pace(map, now)); /* at once, or other threads would come here as well */
  if ((is_due || now - map->sampled > pace(map, now) / 4) && compare(&sample, header->epoch_offset_ns)) {
    dft__clock_map_add(map, &sample);
    DFT__SET(clocks.rate, map->knots[DFT__GET(map->count) - 1].rate);
  }
}

void dft__clock_check(void) {
  uint64_t before = dft__signals_block();
  if (!atomic_exchange(&clocks.lock, 1)) {
    dft__header *header = DFT__ACQUIRE(clocks.header); /* with the lock: a session that ends takes it away */
    /* A forked child finds its gate closed until it has a spool of its own. */
    if (!header || !DFT__GET(*dft__gate_page())) set_due(ordered_counter() + PERIOD_TICKS);
    else step(header, 1);
    atomic_store(&clocks.lock, 0);
  }
  dft__signals_restore(before);
}

/* ---- A session ---------------------------------------------------------------------------------------------------- */

/* In a forked child the lock may be that of a thread that is not there. */
static void take_over(void) {
  if (clocks.pid == getpid()) return;
  clocks.pid = getpid();
  atomic_store(&clocks.lock, 0);
}

void dft__clock_begin(dft__header *header) {
  dft__clock_map *map = &header->clock;
  dft__sample first;
  header->epoch_offset_ns = epoch_offset();
  if (DFT__GET(clocks.mode) == COUNTER) {
    for (int i = 0; i < TRIES && !compare(&first, header->epoch_offset_ns); i++)
      ;
    dft__clock_map_begin(map, DFT__CLOCK_TSC, &first, DFT__GET(clocks.rate));
  } else {
    uint64_t now = dft__clock_ns();
    first = (dft__sample){now, now + (uint64_t)header->epoch_offset_ns, 0};
    dft__clock_map_begin(map, DFT__CLOCK_MONOTONIC, &first, UINT64_C(1) << DFT__RATE_LOG);
  }
  header->opened_ticks = first.ticks;
  take_over();
  DFT__RELEASE(clocks.header, header);
}

int dft__clock_is_of(const dft__header *header) {
  return header->clock.source == (DFT__GET(clocks.mode) == COUNTER ? DFT__CLOCK_TSC : DFT__CLOCK_MONOTONIC);
}

void dft__clock_resume(dft__header *header) {
  DFT__SET(clocks.rate, header->clock.knots[DFT__GET(header->clock.count) - 1].rate);
  take_over();
  DFT__RELEASE(clocks.header, header);
}

void dft__clock_end(void) {
  while (atomic_exchange(&clocks.lock, 1)) sched_yield();
  DFT__RELEASE(clocks.header, NULL);
  atomic_store(&clocks.lock, 0);
}

void dft__clock_copy(dft__clock_map *copy, const dft__clock_map *map) {
  uint32_t count = DFT__GET(map->count);
  memcpy(copy, map, offsetof(dft__clock_map, knots) + (count < DFT__KNOTS ? count : DFT__KNOTS) * sizeof(dft__knot));
}

void dft__clock_settle(dft__clock_map *copy) {
  while (atomic_exchange(&clocks.lock, 1)) sched_yield();
  dft__header *header = DFT__GET(clocks.header);
  if (header) {
    step(header, 0);
    uint64_t now = dft__clock_ticks();
    if (header->clock.settled < now) header->clock.settled = now;
    dft__clock_copy(copy, &header->clock);
  } else {
    memset(copy, 0, sizeof *copy); /* a producer that is late: its session has ended */
  }
  atomic_store(&clocks.lock, 0);
}

/* ---- Reading ------------------------------------------------------------------------------------------------------ */

/* The first ticks are asked for before the event they belong to: they open the trace, and so decide on the clock. */
static void decide(void) {
  if (dft_is_active()) dft__hooks.thread_enter(0);
  if (DFT__GET(clocks.mode) == UNDECIDED) dft__clock_choose();
}

uint64_t dft__clock_idle_ticks(void) {
  if (DFT__GET(clocks.mode) == UNDECIDED) dft__clock_choose();
  return dft__clock_ticks();
}

static uint64_t ticks_of_lost(void) {
  dft__wide ns = dft__clock_ns() - clocks.lost.ns;
  return clocks.lost.ticks + (uint64_t)((ns << DFT__RATE_LOG) / clocks.lost.rate);
}

uint64_t dft_ticks(void) {
  uint64_t now;
  if (dft__clock_quick(&now)) return now;
  if (DFT__UNLIKELY(DFT__GET(clocks.mode) == UNDECIDED)) decide();
  if (DFT__GET(clocks.mode) == MONOTONIC) return dft__clock_ns();
  if (DFT__UNLIKELY(DFT__ACQUIRE(clocks.mode) == LOST)) return ticks_of_lost();
  now = ordered_counter();
  if (now >= DFT__GET(clocks.due)) dft__clock_check();
  return now;
}
