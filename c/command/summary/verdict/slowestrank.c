/* slowestrank.c - the rank that all others wait for, directly or by way of each other.
 * SPDX-License-Identifier: MIT */
#include "slowestrank.h"

#define LESS_TIMES 5 /* so many times less than any other rank it is in communication */

/* In the loop, also waiting. */
static double communication_of(const rank_costs *rank) {
  return rank->ns[COST_COMM] + rank->ns[COST_IMBALANCE];
}

/* NULL: there is none that communicates so much less than all others. */
static rank_costs *find_slowest(job_costs *costs) {
  rank_costs *slowest = &costs->ranks[0];
  for (uint32_t i = 1; i < costs->count; i++) {
    if (communication_of(&costs->ranks[i]) < communication_of(slowest)) slowest = &costs->ranks[i];
  }
  for (uint32_t i = 0; i < costs->count; i++) {
    const rank_costs *rank = &costs->ranks[i];
    if (rank != slowest && communication_of(rank) <= LESS_TIMES * communication_of(slowest)) return NULL;
  }
  return slowest;
}

void slowest_rank_blame(job_costs *costs) {
  rank_costs *slowest = costs->count > 1 ? find_slowest(costs) : NULL;
  double waited = 0, most = 0, others = 0, caused;
  if (!slowest || slowest->rank == NO_NUMBER) return;
  for (uint32_t i = 0; i < costs->count; i++) {
    const rank_costs *rank = &costs->ranks[i];
    if (rank == slowest) continue;
    waited += rank->ns[COST_IMBALANCE];
    others += rank->caused_ns;
    if (rank->ns[COST_IMBALANCE] > most) most = rank->ns[COST_IMBALANCE];
  }
  if (2 * slowest->caused_ns < most) return; /* nobody waits for it: it does something else */
  caused = waited - (costs->count - 1) * communication_of(slowest);
  if (caused <= slowest->caused_ns) return;
  slowest->caused_ns = caused;
  for (uint32_t i = 0; others > 0 && i < costs->count; i++) {
    rank_costs *rank = &costs->ranks[i];
    const double rest = waited - caused;
    if (rank != slowest && rest < others) rank->caused_ns *= rest / others;
  }
}
