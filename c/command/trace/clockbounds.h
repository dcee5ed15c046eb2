/* clockbounds.h - by how much the clocks of hosts differ, from what was recorded.
 *
 * A message is not received before it is sent, and nobody leaves a barrier before the last one has come. Each such fact bounds
 * the difference of two clocks from one side, at one moment:
 *
 *        difference       . upper bounds: messages to the first host, which ended after they began
 *            |     .           .      .
 *            |  ________--------~~~~~~~~    <- a straight line between the two: offset and drift
 *            |     '        '        '
 *            |  '                ' lower bounds: messages from the first host
 *            +--------------------------- time
 *
 * The line that keeps the largest distance to both sides is taken. The bound says how far any other line that fits can be
 * from it. Clocks are assumed to run evenly, and to drift by at most CLOCK_DRIFT_MOST. Hosts that have no message in common
 * are compared by way of others.
 *
 *   clock_bounds clocks = {0};
 *   clock_bounds_message(&clocks, 3, 1, send_start, receive_end);
 *   clock_bounds_solve(&clocks, 1);
 *   moved = clock_fit_apply(clock_bounds_fit(&clocks, 3), start_ns);
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_CLOCKBOUNDS_H
#define DFTRACER_CLOCKBOUNDS_H

#include <stdint.h>

#include "numbering.h"

#define CLOCK_DRIFT_MOST 500e-6 /* what NTP corrects at most */

enum clock_knowledge {
  CLOCK_UNKNOWN,     /* nothing was recorded that bounds it from both sides; the fit changes nothing */
  CLOCK_BOUNDED,     /* offset, drift and bound are known */
  CLOCK_CONTRADICTED /* no straight line fits: the clock was set, or its drift changed; it is off by bound_ns at least */
};

/* What is added to the times of a host, so that they are those of the first host. */
typedef struct clock_fit {
  enum clock_knowledge knowledge;
  int is_off;       /* what was recorded contradicts that the clocks agree */
  int64_t at;       /* a time of this host */
  double offset_ns; /* that is added at that time */
  double drift;     /* and for each ns after it */
  double bound_ns;  /* the result is right to within this, at any time between the first and the last fact */
} clock_fit;

/* What the members of a collective on one host did. */
typedef struct clock_visit {
  uint32_t host;
  int64_t last_start, first_end;
} clock_visit;

typedef struct clock_pair clock_pair;
typedef struct clock_bounds {
  numbering pair_numbers; /* of two hosts */
  clock_pair *pairs;
  uint32_t pair_capacity;
  numbering host_numbers;
  clock_fit *fits; /* by number of a host */
} clock_bounds;

/* Hosts may have any numbers. A start may be too early and an end too late by what the trace rounds off, never the other way
 * round. Facts on one host are ignored. 0: no memory. */
int clock_bounds_message(clock_bounds *all, uint32_t from, uint32_t to, int64_t send_start, int64_t receive_end);
/* Of a collective that nobody leaves before all have come: one visit for each host. */
int clock_bounds_collective(clock_bounds *all, const clock_visit *visits, uint32_t count);

/* After the last fact. `first` is the host whose clock is right. 0: no memory. */
int clock_bounds_solve(clock_bounds *all, uint32_t first);
/* That of the first host, and of hosts without any fact, changes nothing. */
clock_fit clock_bounds_fit(const clock_bounds *all, uint32_t host);
int64_t clock_fit_apply(clock_fit fit, int64_t time_ns);

void clock_bounds_free(clock_bounds *all);

#endif
