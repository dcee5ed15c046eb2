/* sink_finish.h - what sink_finish.c and its test share: the variable finish_in_test of the test.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TESTS_SINK_FINISH_H
#define DFTRACER_TESTS_SINK_FINISH_H

#include <dftracer/sink.h>
#include <stdatomic.h>
#include <time.h>

typedef struct finish_seen {
  uint64_t pause_ns;                      /* of each append; 0: the first one waits until the trace is stopped */
  _Atomic int is_called;                  /* and has begun to */
  uint64_t held_until_ns, last_append_ns; /* CLOCK_REALTIME */
  uint64_t cpu_ns;                        /* that the first append used at least */
  uint64_t end_ns;                        /* of the event `end`, as the following */
  uint64_t finish_ns, drain_cpu_ns, assist_ns;
} finish_seen;

static inline uint64_t now_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
