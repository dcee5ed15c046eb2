/* test_clock.c - ticks never step back, and lead to the epoch.
 * SPDX-License-Identifier: MIT */
#include "clock.h"

#include "session.h"

static void ticks_never_step_back(void) {
  uint64_t before = dft__clock_ticks();
  for (int i = 0; i < 100000; i++) {
    uint64_t now = dft__clock_ticks();
    CHECK(now >= before);
    before = now;
  }
}

static void ticks_are_nanoseconds(void) {
  struct timespec now;
  uint64_t before = dft__clock_ticks(), after;
  clock_gettime(CLOCK_MONOTONIC, &now);
  after = dft__clock_ticks();
  CHECK((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec >= before);
  CHECK((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec <= after);
  CHECK(dft_ticks() >= after);
}

/* Within a millisecond, unless the clock is set at this very moment. */
static void the_offset_leads_to_the_epoch(void) {
  int64_t offset = dft__clock_offset();
  int64_t found = (int64_t)dft__clock_ticks() + offset;
  int64_t wall = (int64_t)dft__clock_read(CLOCK_REALTIME);
  CHECK(wall - found >= -1000000 && wall - found < 1000000000);
}

int main(void) {
  RUN(ticks_never_step_back);
  RUN(ticks_are_nanoseconds);
  RUN(the_offset_leads_to_the_epoch);
  return failed_cases;
}
