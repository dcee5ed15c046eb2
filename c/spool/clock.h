/* clock.h - the clock of records.
 *
 * Ticks are counts of the processor's time stamp counter where that is safe, else nanoseconds of CLOCK_MONOTONIC; see
 * DFTRACER_CLOCK. The map in the spool (record.h) converts them to times since the epoch: CLOCK_MONOTONIC plus one offset
 * per session. So setting the wall clock changes nothing inside a trace. The counter is compared with the kernel's clock
 * ten times a second while events are recorded, and before a batch is encoded. If the two have drifted apart, the map is
 * corrected from there on.
 *
 * The processor may read the counter a few nanoseconds early, before earlier loads have finished. A trace in microseconds
 * does not show that. In a trace in nanoseconds every read waits for these loads, which takes twice as long: then an event
 * that follows a hand-over from another thread is never earlier than what happened before the hand-over.
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
