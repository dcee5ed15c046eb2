/* clock.h - the clock of records. Ticks are nanoseconds of CLOCK_MONOTONIC, which never steps back; the header holds
 * what maps them to the epoch. SPDX-License-Identifier: MIT */
#ifndef DFT_CLOCK_H
#define DFT_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t dft__clock_read(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t dft__clock_ticks(void) {
  return dft__clock_read(CLOCK_MONOTONIC);
}

/* What to add to ticks to get nanoseconds since the epoch: the sample of several with the least time between its reads. */
static inline int64_t dft__clock_offset(void) {
  uint64_t best = UINT64_MAX;
  int64_t offset = 0;
  for (int i = 0; i < 8; i++) {
    uint64_t before = dft__clock_ticks(), epoch = dft__clock_read(CLOCK_REALTIME), after = dft__clock_ticks();
    if (after - before < best) {
      best = after - before;
      offset = (int64_t)(epoch - (before + (after - before) / 2));
    }
  }
  return offset;
}

#endif
