/* slowestrank.c - the rank that all others wait for, directly or by way of each other.
 * SPDX-License-Identifier: MIT */
#include "slowestrank.h"

#define LESS_TIMES 5      /* so many times less than any other rank it is in communication, */
#define OTHERS_LEAST 0.05 /* and these for that share of their loop: else several ranks hardly communicate */

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
    if (rank == slowest) continue;
    if (communication_of(rank) <= LESS_TIMES * communication_of(slowest)) return NULL;
    if (communication_of(rank) < OTHERS_LEAST * rank->base_ns) return NULL;
  }
  return slowest;
}

void slowest_rank_blame(job_costs *costs) {
  rank_costs *slowest = costs->count > 1 ? find_slowest(costs) : NULL;
  double waited = 0, most = 0, others = 0, in_messages = 0, caused;
  if (!slowest || slowest->rank == NO_NUMBER) return;
  for (uint32_t i = 0; i < costs->count; i++) {
    const rank_costs *rank = &costs->ranks[i];
    if (rank == slowest) continue;
    waited += rank->ns[COST_IMBALANCE];
    others += rank->caused_ns;
    in_messages += rank->waits[WAIT_MESSAGE];
    if (rank->ns[COST_IMBALANCE] > most) most = rank->ns[COST_IMBALANCE];
  }
  if (2 * slowest->caused_ns < most) return; /* nobody waits for it: it does something else */
  caused = waited - (costs->count - 1) * communication_of(slowest);
  /* Only what is waited for in messages may come by way of others: who is last in a collective was late by itself. */
  if (others > in_messages && caused > waited - (others - in_messages)) caused = waited - (others - in_messages);
  if (caused <= slowest->caused_ns) return;
  slowest->caused_ns = caused;
  for (uint32_t i = 0; others > 0 && i < costs->count; i++) {
    rank_costs *rank = &costs->ranks[i];
    const double rest = waited - caused;
    if (rank != slowest && rest < others) rank->caused_ns *= rest / others;
  }
}
