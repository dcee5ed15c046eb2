/* delays.h - what ranks did while others waited for them: in a collective from the moment when the first one began to wait until
 * the last one came, alone; or until a message was sent. Each such time counts by what all of them waited then.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_DELAYS_H
#define DFTRACER_DELAYS_H

#include "hostclocks.h"
#include "waiting.h"

/* What most of it was. */
typedef struct delay_cause {
  int is_known;
  uint32_t name, cat; /* texts; 0: it was outside of all events */
  double share;       /* of what others waited: 0 to 1 */
} delay_cause;

/* Others waited for a process. */
typedef struct delay {
  int64_t start, end;
  uint64_t waited_ns; /* of all of them */
  uint32_t call;      /* the number of its name; NO_CALL: it was a message */
} delay;

typedef struct delays {
  record_pile *piles; /* delay, by number of a process */
  uint32_t processes;
} delays;

int delays_init(delays *all, uint32_t processes); /* 0: no memory */
void delays_free(delays *all);
/* 0: no memory, or no room for the spill. */
int delays_add(delays *all, uint32_t process, const delay *one);
/* Finds what most of them were, by number of a process, and by that of a call. 0: the same, or the spill cannot be read. */
int delays_explain(delays *all, summary_state *state, const host_clocks *clocks, delay_cause *of_processes,
                   delay_cause *of_calls, uint32_t call_count);

#endif
