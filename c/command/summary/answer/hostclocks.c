/* hostclocks.c - the clocks of the hosts of a job.
 * SPDX-License-Identifier: MIT */
#include "hostclocks.h"

#include <stdlib.h>

static int by_hash(const void *a, const void *b) {
  const host_clock *one = a, *two = b;
  return (one->host > two->host) - (one->host < two->host);
}

/* Times are rounded down, and ends are made of two such times. */
static int64_t rounding(const summary_state *state) {
  uint64_t unit = 0;
  for (uint32_t i = 0; i < state->source_count; i++) {
    if (state->sources[i].unit_ns > unit) unit = state->sources[i].unit_ns;
  }
  return unit > 1 ? 2 * (int64_t)unit : 0;
}

static uint32_t place_of(const host_clocks *clocks, uint32_t host) {
  uint32_t low = 0, high = clocks->count;
  while (low + 1 < high) {
    uint32_t middle = low + (high - low) / 2;
    if (clocks->hosts[middle].host <= host) low = middle;
    else high = middle;
  }
  return low;
}

int host_clocks_init(host_clocks *clocks, const summary_state *state) {
  uint32_t count = 0;
  *clocks = (host_clocks){.hosts = calloc((size_t)state->process_count + 1, sizeof *clocks->hosts),
                          .of_process = calloc((size_t)state->process_count + 1, sizeof *clocks->of_process),
                          .slack_ns = rounding(state)};
  if (!clocks->hosts || !clocks->of_process) return 0;
  for (uint32_t i = 1; i <= state->process_count; i++) {
    if (state->processes[i].counts.comm.count) clocks->hosts[count++].host = state->processes[i].host;
  }
  qsort(clocks->hosts, count, sizeof *clocks->hosts, by_hash);
  for (uint32_t i = 0; i < count; i++) {
    if (!clocks->count || clocks->hosts[clocks->count - 1].host != clocks->hosts[i].host)
      clocks->hosts[clocks->count++] = (host_clock){.host = clocks->hosts[i].host};
  }
  for (uint32_t i = 1; i <= state->process_count; i++)
    clocks->of_process[i] = place_of(clocks, state->processes[i].host);
  return 1;
}

void host_clocks_free(host_clocks *clocks) {
  free(clocks->hosts);
  free(clocks->of_process);
  clock_bounds_free(&clocks->facts);
  *clocks = (host_clocks){0};
}

int host_clocks_add(host_clocks *clocks, uint32_t from, int64_t send_start, uint32_t to, int64_t receive_end) {
  return clock_bounds_message(&clocks->facts, clocks->of_process[from], clocks->of_process[to], send_start,
                              receive_end + clocks->slack_ns);
}

/* If nothing contradicts that the clocks agree, they are left alone: they are kept by NTP or PTP, which know more. Then the
 * fit itself is a part of what is not known. */
int host_clocks_solve(host_clocks *clocks) {
  if (clocks->count < 2) return 1;
  if (!clock_bounds_solve(&clocks->facts, 0)) return 0;
  for (uint32_t i = 1; i < clocks->count; i++) {
    host_clock *host = &clocks->hosts[i];
    host->fit = clock_bounds_fit(&clocks->facts, i);
    host->is_moved = host->fit.knowledge != CLOCK_UNKNOWN && host->fit.is_off;
    host->bound_ns = host->fit.bound_ns;
    if (host->fit.knowledge == CLOCK_UNKNOWN) host->bound_ns = -1;
    else if (!host->is_moved) host->bound_ns += host->fit.offset_ns < 0 ? -host->fit.offset_ns : host->fit.offset_ns;
  }
  return 1;
}

int64_t host_clocks_time(const host_clocks *clocks, uint32_t process, int64_t time_ns) {
  const host_clock *host = &clocks->hosts[clocks->of_process[process]];
  return host->is_moved ? clock_fit_apply(host->fit, time_ns) : time_ns;
}

int64_t host_clocks_bound(const host_clocks *clocks, uint32_t one, uint32_t two) {
  const double first = clocks->hosts[clocks->of_process[one]].bound_ns;
  const double second = clocks->hosts[clocks->of_process[two]].bound_ns;
  if (!host_clocks_differ(clocks, one, two)) return 0;
  return (int64_t)((first > 0 ? first : 0) + (second > 0 ? second : 0) + 0.5);
}

double host_clocks_worst(const host_clocks *clocks) {
  double worst = 0;
  for (uint32_t i = 0; i < clocks->count; i++) {
    if (clocks->hosts[i].bound_ns < 0) return -1;
    if (clocks->hosts[i].bound_ns > worst) worst = clocks->hosts[i].bound_ns;
  }
  return worst;
}
