/* hostclocks.h - the clocks of the hosts of a job, as far as what was recorded bounds them. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_HOSTCLOCKS_H
#define DFTRACER_HOSTCLOCKS_H

#include "command/summary/state/summarystate.h"
#include "command/trace/clockbounds.h"

typedef struct host_clock {
  uint32_t host;   /* a text of the state: the hash */
  int is_moved;    /* the times of its processes are moved by the fit: what was recorded contradicts them */
  clock_fit fit;   /* against the first host */
  double bound_ns; /* after that; below 0: not known */
} host_clock;

typedef struct host_clocks {
  host_clock *hosts; /* of processes that communicated, in the order of hashes */
  uint32_t count;
  uint32_t *of_process; /* by number of a process: number of its host in the list */
  clock_bounds facts;
  int64_t slack_ns; /* what the trace rounds off: an end may be that much later */
} host_clocks;

/* Of the processes of a sorted state that communicated. 0: no memory. */
int host_clocks_init(host_clocks *clocks, const summary_state *state);
void host_clocks_free(host_clocks *clocks);

static inline int host_clocks_differ(const host_clocks *clocks, uint32_t one, uint32_t two) {
  return clocks->of_process[one] != clocks->of_process[two];
}
/* A process sent at a time, another one had received at a time. 0: no memory. */
int host_clocks_add(host_clocks *clocks, uint32_t from, int64_t send_start, uint32_t to, int64_t receive_end);
/* After the last fact. 0: no memory. */
int host_clocks_solve(host_clocks *clocks);
/* A time of a process on the clock of the first host. */
int64_t host_clocks_time(const host_clocks *clocks, uint32_t process, int64_t time_ns);
/* How far the times of two processes can be off against each other; 0 on one host, or if nothing is known. */
int64_t host_clocks_bound(const host_clocks *clocks, uint32_t one, uint32_t two);
/* The largest bound against the first host; below 0: that of a host is not known. */
double host_clocks_worst(const host_clocks *clocks);

#endif
