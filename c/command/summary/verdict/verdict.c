/* verdict.c - what bounds the job, why, and how much time is at stake.
 * SPDX-License-Identifier: MIT */
#include "verdict.h"

#include <stdlib.h>
#include <string.h>

#include "costcount.h"

#define START_LEAST_NS 60e9
#define COMPUTE_MOST 0.5

const char *const verdict_words[BOUND_CLASSES] = {
  [BOUND_NONE] = "none",           [BOUND_INPUT] = "input",           [BOUND_COMPUTE] = "compute",
  [BOUND_COMM] = "communication",  [BOUND_CHECKPOINT] = "checkpoint", [BOUND_IO] = "io",
  [BOUND_IMBALANCE] = "imbalance", [BOUND_START] = "start-up",
};

/* ---- The largest cost ----------------------------------------------------------------------------------------------- */

/* A cost of the verdict: all I/O of a rank outside of fetches and checkpoints is one. */
static double cost_of(const double ns[COSTS], enum verdict_class class) {
  switch (class) {
    case BOUND_INPUT: return ns[COST_INPUT];
    case BOUND_COMPUTE: return ns[COST_COMPUTE];
    case BOUND_COMM: return ns[COST_COMM];
    case BOUND_CHECKPOINT: return ns[COST_CHECKPOINT];
    case BOUND_IO: return ns[COST_READ] + ns[COST_WRITE] + ns[COST_SYNC] + ns[COST_META];
    case BOUND_IMBALANCE: return ns[COST_IMBALANCE];
    case BOUND_START: return ns[COST_START];
    default: return 0;
  }
}

double verdict_share(const job_costs *costs, enum verdict_class class) {
  const double of_ns = class == BOUND_START ? costs->job_ns : costs->base_ns;
  return of_ns > 0 ? cost_of(costs->ns, class) / of_ns : 0;
}

int verdict_sharing_saves(const job_costs *costs) {
  return costs->base_ns - costs->balanced_ns >= SHARE_MENTIONED * costs->base_ns;
}

/* Most jobs are short when they are traced, and long when they matter. So a training's start-up is its verdict only if it is longer
 * than the loop, and a minute or more; that of another job only if it is a minute or more, or a fifth of a job that does not mostly
 * compute. Imbalance is one only if sharing the work saves something. */
static int is_judged(const job_costs *costs, enum verdict_class class) {
  const double start = costs->ns[COST_START];
  if (class == BOUND_NONE || class == BOUND_COMPUTE) return 0;
  if (class == BOUND_INPUT && costs->is_training && !costs->is_input_known) return 0;
  if (class == BOUND_IMBALANCE) return verdict_sharing_saves(costs);
  if (class != BOUND_START) return 1;
  if (costs->is_training) return start >= START_LEAST_NS && start > costs->base_ns;
  return start >= START_LEAST_NS ||
         (start >= SHARE_CRITICAL * costs->job_ns && verdict_share(costs, BOUND_COMPUTE) < COMPUTE_MOST);
}

/* Start-up that is not judged is no part of what compute is compared with. */
static int is_compute(const job_costs *costs) {
  const double share = verdict_share(costs, BOUND_COMPUTE);
  const double start = costs->is_training || is_judged(costs, BOUND_START) ? 0 : verdict_share(costs, BOUND_START);
  return share >= SHARE_COMPUTE || (share >= COMPUTE_MOST && share >= SHARE_COMPUTE * (1 - start));
}

int verdict_is_much_unknown(const job_costs *costs) {
  return costs->is_training && costs->ns[COST_OTHER] >= SHARE_UNKNOWN * costs->base_ns;
}

int verdict_loads_in_loop(const summary_answer *answer, const job_costs *costs, const measure_list *measures) {
  const training_totals *training = &answer->training;
  const double loading = ((double)training->train.data_ns - (double)training->hidden_ns) / costs->count;
  return verdict_is_much_unknown(costs) && measures->values[M_workers].number <= 0 &&
         loading - costs->ns[COST_INPUT] >= 0.5 * costs->ns[COST_OTHER];
}

static enum verdict_class find_class(const job_costs *costs) {
  enum verdict_class largest = BOUND_NONE;
  double share = 0, next = 0;
  for (int class = 0; class < BOUND_CLASSES; class ++) {
    const double own = verdict_share(costs, (enum verdict_class) class);
    if (!is_judged(costs, (enum verdict_class) class)) continue;
    if (own > share) {
      next = share;
      share = own;
      largest = (enum verdict_class) class;
    } else if (own > next) {
      next = own;
    }
  }
  if (share < SHARE_CRITICAL && verdict_is_much_unknown(costs) && costs->ns[COST_OTHER] > share * costs->base_ns)
    return BOUND_NONE; /* what is not known may be worse */
  if (share >= SHARE_WARNING && share - next >= SHARE_MENTIONED) return largest;
  if (share < SHARE_WARNING && is_compute(costs)) return BOUND_COMPUTE;
  return BOUND_NONE;
}

static double largest_share(const job_costs *costs) {
  double most = 0;
  for (int class = 0; class < BOUND_CLASSES; class ++) {
    const double own = verdict_share(costs, (enum verdict_class) class);
    if (is_judged(costs, (enum verdict_class) class) && own > most) most = own;
  }
  return most;
}

/* The costs that are not clearly less than the largest one, which may not be the verdict because of them. */
static void find_tied(job_verdict *verdict, const job_costs *costs) {
  const double most = largest_share(costs);
  int count = 0;
  for (int class = 0; most >= SHARE_WARNING && class < BOUND_CLASSES; class ++) {
    const double own = verdict_share(costs, (enum verdict_class) class);
    verdict->is_tied[class] = is_judged(costs, (enum verdict_class) class) && most - own < SHARE_MENTIONED;
    count += verdict->is_tied[class];
  }
  if (count == 1) memset(verdict->is_tied, 0, sizeof verdict->is_tied); /* what is not known is larger */
}

/* While the rank is in its region, the others are in no region and no call. */
static int is_wait_outside(const job_costs *costs, const measure_list *measures) {
  const double lost = measures->values[M_straggler_stake].number;
  for (uint32_t i = 0; i < costs->count; i++) {
    const rank_costs *rank = &costs->ranks[i];
    if (rank->rank == (int64_t)measures->values[M_straggler].number)
      return costs->ns[COST_OTHER] - rank->ns[COST_OTHER] >= SHARE_CAUSE * lost;
  }
  return 0;
}

/* No communication was recorded, but a region takes longer on one rank: probably, the others wait for it in what was not. */
static int is_guessed_imbalance(enum verdict_class class, const summary_answer *answer, const job_costs *costs,
                                const measure_list *measures) {
  const measure_value *lost = &measures->values[M_straggler_stake];
  if (costs->is_training || costs->count < 2 || !lost->is_known || answer->collectives.count) return 0;
  if (costs->ns[COST_COMM] > 0 || lost->number < SHARE_WARNING * costs->base_ns || lost->number >= costs->base_ns)
    return 0;
  if (class == BOUND_NONE) return largest_share(costs) < SHARE_WARNING && is_wait_outside(costs, measures);
  return class == BOUND_COMPUTE;
}

void verdict_move_guess(const job_verdict *verdict, job_costs *costs, const measure_list *measures) {
  double *hidden;
  if (!verdict->is_guess) return;
  hidden = &costs->ns[is_wait_outside(costs, measures) ? COST_OTHER : COST_COMPUTE];
  costs->ns[COST_IMBALANCE] += verdict->ns;
  *hidden = *hidden > verdict->ns ? *hidden - verdict->ns : 0;
}

/* What most of the I/O is: twice as much as all the rest. */
static const char *io_kind_of(const double ns[COSTS]) {
  static const enum cost kinds[] = {COST_READ, COST_WRITE, COST_SYNC, COST_META};
  const double most = 2.0 / 3 * cost_of(ns, BOUND_IO);
  for (int i = 0; i < 4; i++) {
    if (ns[kinds[i]] >= most) return cost_names[kinds[i]];
  }
  return ns[COST_WRITE] + ns[COST_SYNC] >= most ? cost_names[COST_WRITE] : "mixed";
}

/* ---- How bad, and what could be saved ------------------------------------------------------------------------------- */

static double share_of_rank(const job_verdict *verdict, const rank_costs *rank) {
  const double of_ns = verdict->class == BOUND_START ? rank->all_ns : rank->base_ns;
  return of_ns > 0 ? cost_of(rank->ns, verdict->class) / of_ns : 0;
}

/* Communication that has nothing to hide behind. */
static double unhidden(const rank_costs *rank) {
  const double more = rank->ns[COST_COMM] - rank->ns[COST_COMPUTE] - rank->ns[COST_OTHER];
  return more > 0 ? more : 0;
}

/* Nobody can be faster than the rank that needs longest when the cost, and the wait for other ranks, are taken away. */
static double best_of(const job_verdict *verdict, const job_costs *costs) {
  double most = 0;
  if (verdict->class == BOUND_NONE) return verdict->of_ns;
  if (verdict->is_guess || costs->lives.is_known) return verdict->of_ns - verdict->ns;
  if (verdict->class == BOUND_IMBALANCE) return costs->least_ns;
  for (uint32_t i = 0; i < costs->count; i++) {
    const rank_costs *rank = &costs->ranks[i];
    const int is_start = verdict->class == BOUND_START;
    double left = (is_start ? rank->all_ns : rank->base_ns) - cost_of(rank->ns, verdict->class);
    if (verdict->class == BOUND_COMPUTE) left = rank->ns[COST_COMPUTE];
    if (verdict->class == BOUND_COMM) left += unhidden(rank);
    if (verdict->class != BOUND_COMPUTE && !is_start) left -= rank->ns[COST_IMBALANCE];
    if (left > most) most = left;
  }
  return most < verdict->of_ns ? most : verdict->of_ns;
}

/* Two ranks with more work than the others come last by turns. */
static void find_second(job_verdict *verdict, const job_costs *costs) {
  const rank_costs *worst = NULL, *second = NULL;
  double share;
  for (uint32_t i = 0; i < costs->count; i++) {
    const rank_costs *rank = &costs->ranks[i];
    if (rank->rank == verdict->worst_rank) worst = !worst || rank->caused_ns > worst->caused_ns ? rank : worst;
    else if (!second || rank->caused_ns > second->caused_ns) second = rank;
  }
  if (!worst || !second || second->rank == NO_NUMBER || costs->count == 2) return;
  share = verdict->worst_share * second->caused_ns / worst->caused_ns;
  if (verdict->worst_share >= SHARE_CAUSE || verdict->worst_share + share < SHARE_CAUSE) return;
  verdict->second_rank = second->rank;
  verdict->second_share = share;
}

/* The rank with the largest share of the cost; of imbalance, the one that the others wait for. */
static void find_worst(job_verdict *verdict, const job_costs *costs, const measure_list *measures) {
  const measure_value *last = &measures->values[M_last_rank];
  double second = 0;
  if (verdict->class == BOUND_IMBALANCE) {
    if (verdict->is_guess) {
      verdict->worst_rank = (int64_t)measures->values[M_straggler].number;
      verdict->worst_share = 1;
    }
    if (verdict->is_guess) return;
    verdict->is_worst_told = last->is_known || costs->ranks[costs->count - 1].rank != NO_NUMBER;
    if (!last->is_known) return;
    verdict->worst_rank = (int64_t)last->number;
    verdict->worst_share = measures->values[M_last_share].number;
    find_second(verdict, costs);
    return;
  }
  if (verdict->class == BOUND_CHECKPOINT && costs->saving_rank != NO_NUMBER) {
    verdict->worst_rank = costs->saving_rank; /* the others wait for it: their shares are much the same */
    verdict->worst_share = verdict->share;
    return;
  }
  for (uint32_t i = 0; costs->count > 1 && i < costs->count; i++) {
    const rank_costs *rank = &costs->ranks[i];
    const double share = share_of_rank(verdict, rank);
    if (rank->rank != NO_NUMBER && (verdict->worst_rank == NO_NUMBER || share > verdict->worst_share)) {
      second = verdict->worst_share;
      verdict->worst_rank = rank->rank;
      verdict->worst_share = share;
    } else if (share > second) {
      second = share;
    }
  }
  verdict->is_worst_told = verdict->worst_rank != NO_NUMBER && verdict->worst_share - second >= SHARE_MENTIONED;
}

int verdict_lives_differ(const job_costs *costs) {
  return costs->lives.is_known && costs->lives.longest_ns >= LIVES_DIFFER * costs->lives.others_ns;
}

int verdict_has_gaps(const job_costs *costs, const summary_answer *answer) {
  return costs->lives.is_known && costs->lives.covered_ns < SHARE_CAUSE * (double)answer->job_ns;
}

uint64_t verdict_steps(const summary_answer *answer) {
  return answer->training.steps_least ? answer->training.steps_least : answer->training.steps;
}

int verdict_clocks_differ(const job_costs *costs) {
  return costs->unsure_ns > (1 - SHARE_CAUSE) * costs->ns[COST_COMM];
}

int verdict_receivers_are_late(const job_costs *costs) {
  return costs->in_sends_ns > (1 - SHARE_CAUSE) * costs->ns[COST_COMM];
}

static int is_sure(const job_verdict *verdict, const summary_answer *answer, const job_costs *costs) {
  if (verdict->class == BOUND_COMPUTE && costs->hidden_ns >= SHARE_WARNING * costs->base_ns) return 0;
  if (verdict->is_aside || verdict->is_guess) return 0;
  if (verdict_lives_differ(costs) || verdict_has_gaps(costs, answer)) return 0;
  if (answer->state->dropped || answer->facts.missing_ranks) return 0; /* they may be what the others wait for */
  if (!costs->is_imbalance_known && costs->ns[COST_COMM] >= SHARE_WARNING * costs->base_ns) return 0;
  if (verdict->class == BOUND_COMM && (verdict_clocks_differ(costs) || verdict_receivers_are_late(costs))) return 0;
  return (costs->is_training ? verdict_steps(answer) : answer->state->events) >= STEPS_SURE;
}

/* Communication includes the waiting for other ranks, as far as that is no end of a rank. */
static double aside_base(const job_verdict *verdict, const job_costs *costs) {
  if (verdict->class != BOUND_COMM && verdict->class != BOUND_IMBALANCE) return verdict->ns;
  return costs->ns[COST_COMM] + costs->waits[WAIT_COLLECTIVE] + costs->waits[WAIT_MESSAGE];
}

void verdict_make(job_verdict *verdict, const summary_answer *answer, const job_costs *costs,
                  const measure_list *measures) {
  *verdict = (job_verdict){
    .worst_rank = NO_NUMBER, .second_rank = NO_NUMBER, .idle_rank = NO_NUMBER, .cause.rank = NO_NUMBER};
  if (!costs->count || costs->base_ns <= 0) return;
  verdict->exists = 1;
  verdict->class = find_class(costs);
  verdict->is_guess = is_guessed_imbalance(verdict->class, answer, costs, measures);
  if (verdict->is_guess) verdict->class = BOUND_IMBALANCE;
  if (verdict->class == BOUND_NONE) find_tied(verdict, costs);
  verdict->ns = verdict->is_guess ? measures->values[M_straggler_stake].number : cost_of(costs->ns, verdict->class);
  if (verdict->class == BOUND_IO) verdict->io_kind = io_kind_of(costs->ns);
  verdict->of_ns = verdict->class == BOUND_START ? costs->job_ns : costs->base_ns;
  verdict->share = verdict->ns / verdict->of_ns;
  if (verdict->class == BOUND_IO) verdict->aside_ns = costs->aside_ns[ASIDE_IO];
  if (verdict->class == BOUND_CHECKPOINT) verdict->aside_ns = costs->aside_ns[ASIDE_CHECKPOINT];
  if (verdict->class == BOUND_COMM || verdict->class == BOUND_IMBALANCE)
    verdict->aside_ns = costs->aside_ns[ASIDE_COMM];
  verdict->is_aside = verdict->aside_ns > (1 - SHARE_CAUSE) * aside_base(verdict, costs);
  verdict->is_sure = is_sure(verdict, answer, costs);
  verdict->best_ns = best_of(verdict, costs);
  if (verdict->class != BOUND_NONE) find_worst(verdict, costs, measures);
}

void verdict_cause_free(verdict_cause *cause) {
  free(cause->call);
  free(cause->folder);
  free(cause->file);
}

void verdict_free(job_verdict *verdict) {
  verdict_cause_free(&verdict->cause);
  free(verdict->text);
  free(verdict->next);
  free(verdict->evidence);
}
