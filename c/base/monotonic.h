/* monotonic.h - the kernel's clocks in nanoseconds, for waits and deadlines.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_MONOTONIC_H
#define DFT_MONOTONIC_H

#include <stdint.h>
#include <time.h>

static inline uint64_t dft__clock_read(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t dft__clock_ns(void) {
  return dft__clock_read(CLOCK_MONOTONIC);
}

#endif
