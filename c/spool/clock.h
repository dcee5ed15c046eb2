/* clock.h - the clock of records.
 *
 * Ticks are counts of the processor's time stamp counter where that is safe, else nanoseconds of CLOCK_MONOTONIC; see
 * DFTRACER_CLOCK. The spool's map leads from them to the epoch (record.h): its target is CLOCK_MONOTONIC plus one offset a
 * session, so a wall clock that is set moves nothing inside a trace. The counter is compared with it ten times a second while
 * events are recorded, and before a batch is encoded; the map bends where the two have drifted apart.
 *
 * The processor may read the counter some nanoseconds early, while loads before it are under way. That is less than a trace in
 * microseconds shows; for one in nanoseconds every read waits, which takes twice as long, so that what another thread did
 * before it let this one go on is earlier.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_CLOCK_H
#define DFT_CLOCK_H

#include <dftracer/dft.h>

#include "base/atomic.h"
#include "base/monotonic.h"
#include "record.h"

/* A copy of dft_tsc_until for the library's own calls: an exported variable is reached through the GOT, which costs a load. */
extern uint64_t dft__tsc_until __attribute__((visibility("hidden")));

/* Now, in ticks, where that takes no call; else zero. */
static inline int dft__clock_quick(uint64_t *now) {
#ifdef __x86_64__
  uint64_t until = __atomic_load_n(&dft__tsc_until, __ATOMIC_RELAXED);
  if (DFT__UNLIKELY(until == 0)) return 0;
  *now = __builtin_ia32_rdtsc();
  return DFT__LIKELY(*now < until);
#else
  (void)now;
  return 0;
#endif
}

static inline uint64_t dft__clock_ticks(void) {
  uint64_t now;
  return dft__clock_quick(&now) ? now : dft_ticks();
}

/* Decides what ticks are, by the settings and this machine. */
void dft__clock_choose(void);
/* Ticks for callers that record nothing. The first dft_ticks() would open a trace if the environment asks for one. */
uint64_t dft__clock_idle_ticks(void);

/* A session opens: the first knot of its map, and when that was. */
void dft__clock_begin(dft__header *header);
/* A session goes on in the spool of an earlier image, whose ticks must be the same. */
int dft__clock_is_of(const dft__header *header);
void dft__clock_resume(dft__header *header);
/* The session has ended: its header is no longer used. */
void dft__clock_end(void);

/* Compares the clocks when that is due; safe in a signal handler. */
void dft__clock_check(void);

/* Copies the map of the open session; what the copy says of ticks before now will never change. With signals blocked. */
void dft__clock_settle(dft__clock_map *copy);
/* Copies a map that nobody changes any more. */
void dft__clock_copy(dft__clock_map *copy, const dft__clock_map *map);

#endif
