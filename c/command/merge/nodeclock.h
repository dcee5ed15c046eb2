/* nodeclock.h - how the clocks of nodes are corrected: by a shift, and by a drift. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_NODECLOCK_H
#define DFTRACER_NODECLOCK_H

#include <math.h>
#include <stdint.h>

#include "command/trace/clockbounds.h"

typedef struct node_clock {
  int64_t shift_ns; /* is added to times */
  int64_t at_ns;    /* a time of this node */
  double drift;     /* is added for each ns after it */
} node_clock;

typedef struct alignment {
  const char *method; /* that was used */
  node_clock *nodes;  /* indexed by the reader's number of the host */
  uint32_t count;
  /* of `auto`, else NULL */
  clock_fit *fits;  /* what is known of each */
  uint8_t *is_seen; /* it has traces */
  uint32_t first;   /* the host whose clock the others follow */
} alignment;

static inline int64_t node_clock_apply(const node_clock *clock, int64_t ns) {
  int64_t moved = ns + clock->shift_ns;
  return clock->drift != 0 ? moved + llround(clock->drift * (double)(ns - clock->at_ns)) : moved;
}

#endif
