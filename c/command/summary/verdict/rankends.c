/* rankends.c - ranks that are done before the others.
 * SPDX-License-Identifier: MIT */
#include "rankends.h"

#include <stdlib.h>

#include "endcauses.h"

/* When a rank ran, on the clock of the first host. */
typedef struct rank_life {
  int64_t first, last;
  int64_t final_first, final_last; /* its MPI_Finalize; first > last: it has none */
} rank_life;

/* Whether ends are those of the program, and not of what is known of it. */
static int are_ends_known(const job_costs *costs, const summary_state *state) {
  if (costs->count < 2 || state->question.has_to || state->recovered || state->left || state->running) return 0;
  for (uint32_t i = 0; i < costs->count; i++) {
    const rank_costs *rank = &costs->ranks[i];
    if (rank->rank == NO_NUMBER || !state->processes[rank->process].facts.is_ended) return 0;
  }
  return 1;
}

/* The place of a rank in the costs, which are in the order of ranks; their count: it has none. */
static uint32_t place_of(const job_costs *costs, int64_t rank) {
  uint32_t low = 0, high = costs->count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (costs->ranks[middle].rank < rank) low = middle + 1;
    else high = middle;
  }
  return low < costs->count && costs->ranks[low].rank == rank ? low : costs->count;
}

/* When a rank ran: all of its processes, such as several commands of a script. */
static void add_threads(rank_life *lives, const job_costs *costs, const summary_answer *answer) {
  const host_clocks *clocks = &answer->collectives.clocks;
  for (uint32_t i = 0; i < answer->state->thread_count; i++) {
    const state_thread *thread = &answer->state->threads[i];
    const uint32_t place = place_of(costs, answer->state->processes[thread->process].rank);
    const int64_t first = host_clocks_time(clocks, thread->process, thread->first);
    const int64_t last = host_clocks_time(clocks, thread->process, thread->last);
    if (place == costs->count) continue;
    if (first < lives[place].first) lives[place].first = first;
    if (last > lives[place].last) lives[place].last = last;
  }
}

/* By place in the costs. The caller frees it. NULL: no memory. */
static rank_life *find_lives(const job_costs *costs, const summary_answer *answer) {
  const host_clocks *clocks = &answer->collectives.clocks;
  rank_life *lives = calloc((size_t)costs->count + 1, sizeof *lives);
  for (uint32_t i = 0; lives && i < costs->count; i++) {
    const uint32_t process = costs->ranks[i].process;
    const process_counts *counts = &answer->state->processes[process].counts;
    lives[i] = (rank_life){INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN};
    if (!counts->finals) continue;
    lives[i].final_first = host_clocks_time(clocks, process, counts->final_first);
    lives[i].final_last = host_clocks_time(clocks, process, counts->final_last);
  }
  if (lives) add_threads(lives, costs, answer);
  return lives;
}

static int ran_together(const rank_life *lives, uint32_t count) {
  int64_t begun = INT64_MIN, ended = INT64_MAX;
  for (uint32_t i = 0; i < count; i++) {
    if (lives[i].first > begun) begun = lives[i].first;
    if (lives[i].last < ended) ended = lives[i].last;
  }
  return begun < ended;
}

/* A wait that is shorter than the clocks are sure of is none. */
static double sure_wait(const job_costs *costs, const summary_answer *answer, uint32_t rank, uint32_t last,
                        int64_t wait) {
  const host_clocks *clocks = &answer->collectives.clocks;
  const int64_t bound = host_clocks_bound(clocks, costs->ranks[last].process, costs->ranks[rank].process);
  return wait > bound ? (double)wait : 0;
}

/* In MPI_Finalize, until the last rank comes to it. */
static void add_finals(job_costs *costs, const summary_answer *answer, const rank_life *lives, end_causes *causes) {
  uint32_t last = costs->count;
  for (uint32_t i = 0; i < costs->count; i++) {
    if (lives[i].final_first > lives[i].final_last) return; /* it does not come */
    if (last == costs->count || lives[i].final_first > lives[last].final_first) last = i;
  }
  for (uint32_t i = 0; i < costs->count; i++) {
    rank_costs *rank = &costs->ranks[i];
    const int64_t came = lives[last].final_first;
    const int64_t until = came < lives[i].final_last ? came : lives[i].final_last;
    double wait = sure_wait(costs, answer, i, last, until - lives[i].final_first);
    if (wait > rank->ns[COST_FINAL]) wait = rank->ns[COST_FINAL]; /* other threads still work */
    if (wait <= 0) continue;
    rank->ns[COST_FINAL] -= wait;
    rank->ns[COST_IMBALANCE] += wait;
    rank->waits[WAIT_END] += wait;
    end_causes_add_wait(causes, i, lives[i].final_first, until, wait / (double)(until - lives[i].final_first));
  }
}

/* After its end, until that of the last rank. */
static void add_ends(job_costs *costs, const summary_answer *answer, const rank_life *lives, end_causes *causes) {
  uint32_t last = 0;
  double tail; /* of the last rank: before that, it is still in its loop */
  for (uint32_t i = 1; i < costs->count; i++) {
    if (lives[i].last > lives[last].last) last = i;
  }
  tail = costs->ranks[last].end_ns;
  for (uint32_t i = 0; i < costs->count; i++) {
    rank_costs *rank = &costs->ranks[i];
    const double wait = sure_wait(costs, answer, i, last, lives[last].last - lives[i].last);
    end_causes_add_life(causes, i, lives[i].first, lives[i].last);
    if (wait <= 0) continue;
    rank->all_ns += wait;
    rank->base_ns += wait;
    rank->end_ns += wait < tail ? wait : tail;
    rank->ns[COST_IMBALANCE] += wait;
    rank->waits[WAIT_END] += wait;
    end_causes_add_wait(causes, i, lives[i].last, lives[last].last, 1);
  }
}

int rank_ends_measure(job_costs *costs, const summary_answer *answer) {
  rank_life *lives;
  int is_good = 1;
  if (!are_ends_known(costs, answer->state)) return 1;
  lives = find_lives(costs, answer);
  if (!lives) return 0;
  if (ran_together(lives, costs->count)) {
    end_causes causes;
    end_causes_begin(&causes, costs, answer);
    add_finals(costs, answer, lives, &causes);
    add_ends(costs, answer, lives, &causes);
    is_good = end_causes_end(&causes);
  }
  free(lives);
  return is_good;
}
