/* measuring.c - takes the measures of a job.
 * SPDX-License-Identifier: MIT */
#include "measuring.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cause_words.h"
#include "measuring_io.h"
#include "phasecause.h"

#define NEARLY 0.95

/* ---- Ranks ---------------------------------------------------------------------------------------------------------- */

static void take_cost(measure_list *list, const job_costs *costs, enum cost cost, enum measure share,
                      enum measure stake) {
  measure_set_ratio(list, share, costs->ns[cost], cost == COST_START ? costs->job_ns : costs->base_ns);
  measure_set(list, stake, costs->ns[cost]);
}

/* The rank that the others waited for most. */
static void take_last(measure_list *list, const job_costs *costs) {
  const rank_costs *last = NULL;
  double all = 0;
  for (uint32_t i = 0; i < costs->count; i++) {
    const rank_costs *next = &costs->ranks[i];
    all += next->ns[COST_IMBALANCE];
    if (!last || next->caused_ns > last->caused_ns) last = next;
  }
  if (!last || last->caused_ns <= 0 || last->rank == NO_NUMBER) return;
  measure_set(list, M_last_rank, (double)last->rank);
  measure_set_ratio(list, M_last_share, last->caused_ns < all ? last->caused_ns : all, all);
}

/* Those who wait in communication are not the ones who make the others wait; and an epoch or a step encloses such waits. Calls of
 * MPI are no work that could be distributed, but reading and writing is. */
static int can_be_late(const summary_state *state, const rank_region *region) {
  switch (region->activity) {
    case ACTIVITY_COMMUNICATION:
    case ACTIVITY_MPI:
    case ACTIVITY_EPOCH:
    case ACTIVITY_STEP:
    case ACTIVITY_EVALUATION:
    case ACTIVITY_FRAME:
    case ACTIVITY_FINAL: return 0;
    case ACTIVITY_READ:
    case ACTIVITY_WRITE: return 1;
    default: return strncmp(state_text_of(state, region->cat).text, "MPI", 3) != 0; /* MPI and MPIIO */
  }
}

/* A rank that waits for others is long in the regions around its communication, too: it is not the one that makes them wait. */
static int is_waiting(const collective_list *collectives, const rank_region *region) {
  double waited = 0;
  for (uint32_t i = 0; i < collectives->rank_count; i++) {
    if (collectives->ranks[i].rank == region->max.rank) waited += (double)collectives->ranks[i].waits.loop_waited_ns;
  }
  return waited >= 0.5 * (double)region->lost_ns;
}

/* In this process, without those that load for it. */
static uint64_t own_total(const summary_state *state, uint32_t process, const rank_region *region) {
  const region_stats *regions = &state->processes[process].counts.regions;
  for (uint32_t i = 0; i < regions->count; i++) {
    const region_total *own = &regions->list[i];
    if (own->name == region->name && own->cat == region->cat) return own->total_ns;
  }
  return 0;
}

/* The time of a region that the rank was in. What runs on several threads at once, or within itself, adds up to more than there
 * is. Loading in workers is hidden, or it is waited for in fetches. */
static int is_time_of_rank(const summary_answer *answer, const job_costs *costs, const rank_region *region) {
  const rank_costs *rank = NULL;
  for (uint32_t i = 0; !rank && i < costs->count; i++) {
    if (costs->ranks[i].rank == region->max.rank) rank = &costs->ranks[i];
  }
  if (!rank || (double)region->max.total_ns > rank->all_ns) return 0;
  return !costs->is_training ||
         (double)own_total(answer->state, rank->process, region) >= NEARLY * (double)region->max.total_ns;
}

/* Of two that lose about the same: if they are longest on the same rank, they are within each other, and the inner one says more.
 * Else the shorter one may be the waiting for the longer one. */
static int says_more(const rank_region *next, const rank_region *found) {
  if (!found) return 1;
  return (next->max.total_ns < found->max.total_ns) == (next->max.rank == found->max.rank);
}

/* The region that loses most time to one rank. */
static const rank_region *find_straggler(const summary_answer *answer, const job_costs *costs) {
  const rank_region_list *all = &answer->rank_regions;
  const rank_region *found = NULL;
  double most = 0;
  for (uint32_t i = 0; i < all->count; i++) {
    const rank_region *next = &all->regions[i];
    if (next->max.rank == NO_NUMBER || !can_be_late(answer->state, next)) continue;
    if (is_waiting(&answer->collectives, next) || !is_time_of_rank(answer, costs, next)) continue;
    if (!most) most = (double)next->lost_ns;
    if ((double)next->lost_ns < NEARLY * most) break;
    if (says_more(next, found)) found = next;
  }
  return found;
}

/* By the ranks that work, as far as that is known. */
static double lost_by(const rank_region *slow, const job_costs *costs) {
  const double mean = costs->workers < slow->ranks ? (double)slow->total_ns / costs->workers : (double)slow->mean_ns;
  return mean < (double)slow->max.total_ns ? (double)slow->max.total_ns - mean : 0;
}

static void take_straggler(measure_list *list, const summary_answer *answer, const job_costs *costs) {
  const rank_region *slow = find_straggler(answer, costs);
  char *name;
  if (!slow) return;
  name = shown_name(state_text_of(answer->state, slow->name));
  if (name) measure_set_text(list, M_straggler_region, name, strlen(name));
  free(name);
  measure_set(list, M_straggler, (double)slow->max.rank);
  measure_set(list, M_straggler_time, (double)slow->max.total_ns);
  measure_set(list, M_straggler_mean, (double)slow->mean_ns);
  measure_set(list, M_straggler_imbalance, rank_region_imbalance(slow));
  measure_set(list, M_straggler_stake, lost_by(slow, costs));
}

/* At stake is only what sharing the work would save: not the waiting of a rank that hands it out. */
static void take_waits(measure_list *list, const job_costs *costs) {
  const double saved = costs->base_ns - costs->balanced_ns;
  if (costs->is_imbalance_known || costs->ns[COST_IMBALANCE] > 0)
    take_cost(list, costs, COST_IMBALANCE, M_imbalance_share, M_imbalance_stake);
  if (list->values[M_imbalance_stake].is_known)
    measure_set(list, M_imbalance_stake, fmin(costs->ns[COST_IMBALANCE], saved));
  measure_set_ratio(list, M_late_message_share, costs->waits[WAIT_MESSAGE], costs->base_ns);
  measure_set(list, M_late_message_stake, fmin(costs->waits[WAIT_MESSAGE], saved));
  measure_set_ratio(list, M_early_end_share, costs->waits[WAIT_END], costs->base_ns);
  measure_set(list, M_early_end_stake, fmin(costs->waits[WAIT_END], saved));
}

/* What comes before the loop, and after it. Pauses of a training, which were counted with its end, are neither. */
static int take_phases(measure_list *list, const summary_answer *answer, const job_costs *costs) {
  const training_totals *training = &answer->training;
  const double pauses = training->processes ? (double)training->pause_ns / (double)training->processes : 0;
  const double end = costs->end_ns > pauses ? costs->end_ns - pauses : 0;
  take_cost(list, costs, COST_START, M_startup_share, M_startup_stake);
  measure_set_ratio(list, M_teardown_share, end, costs->job_ns);
  measure_set(list, M_teardown_stake, end);
  return phase_cause_measure(list, answer, costs, PHASE_START) && phase_cause_measure(list, answer, costs, PHASE_END);
}

/* Regions whose names are in no row of the vocabulary count as compute. */
static void take_unnamed(measure_list *list, const summary_answer *answer, const job_costs *costs) {
  const region_total *most = NULL;
  double all = 0, unnamed = 0;
  char *name;
  for (uint32_t i = 0; i < costs->count; i++) {
    const region_stats *regions = &answer->state->processes[costs->ranks[i].process].counts.regions;
    for (uint32_t j = 0; j < regions->count; j++) {
      const region_total *region = &regions->list[j];
      const double own = (double)region->self_ns;
      const int is_unnamed = region->activity == ACTIVITY_OTHER;
      if (is_unnamed || region->activity == ACTIVITY_COMPUTE || region->activity == ACTIVITY_UPDATE) all += own;
      if (!is_unnamed) continue;
      unnamed += own;
      if (!most || region->self_ns > most->self_ns) most = region;
    }
  }
  measure_set_ratio(list, M_unnamed_share, unnamed, all);
  if (!most) return;
  name = shown_name(state_text_of(answer->state, most->name));
  if (name) measure_set_text(list, M_unnamed_region, name, strlen(name));
  free(name);
}

static void take_ranks(measure_list *list, const summary_answer *answer, const job_costs *costs) {
  measure_set(list, M_ranks, costs->count);
  take_cost(list, costs, COST_COMM, M_communication_share, M_communication_stake);
  take_cost(list, costs, COST_TRANSFER, M_transfer_share, M_transfer_stake);
  take_waits(list, costs);
  take_last(list, costs);
  take_straggler(list, answer, costs);
  take_unnamed(list, answer, costs);
}

/* ---- Training ------------------------------------------------------------------------------------------------------- */

#define QUANTILES 200 /* that stand for all steps */

static int take_steps(measure_list *list, const summary_answer *answer, const job_costs *costs) {
  histogram all = {0};
  double median, p75, p95, longer = 0, steps;
  int is_good = 1;
  for (uint32_t i = 0; is_good && i < costs->count; i++) {
    const step_times *steps_of = answer->state->processes[costs->ranks[i].process].counts.steps;
    if (steps_of) is_good = histogram_merge(&all, &steps_of->durations);
  }
  if (is_good && all.count) {
    steps = (double)all.count / costs->count;
    median = (double)histogram_percentile(&all, 0.5, answer->grain_ns);
    p75 = (double)histogram_percentile(&all, 0.75, answer->grain_ns);
    p95 = (double)histogram_percentile(&all, 0.95, answer->grain_ns);
    for (int i = 0; i < QUANTILES; i++) {
      const double step = (double)histogram_percentile(&all, (i + 0.5) / QUANTILES, answer->grain_ns);
      if (step > median) longer += (step - median) * steps / QUANTILES;
    }
    measure_set(list, M_steps, steps);
    measure_set(list, M_step_median, median);
    measure_set(list, M_step_p95, p95);
    measure_set_ratio(list, M_step_jitter, p95, median);
    measure_set_ratio(list, M_step_spread, p75, median);
    measure_set(list, M_jitter_stake, longer);
  }
  histogram_free(&all);
  return is_good;
}

/* Checkpoints are not made in every epoch, and have a rule of their own. */
static double time_of_epoch(const epoch_stats *epoch) {
  double ns = 0;
  for (int class = 0; class < TIME_CLASSES; class ++)
    ns += class == TIME_CHECKPOINT ? 0 : (double)epoch->class_ns[class];
  return ns;
}

/* Epochs are compared by the time of a step, because the last one may have been cut. */
static void take_epochs(measure_list *list, const summary_answer *answer) {
  const summary_state *state = answer->state;
  const epoch_stats *first = NULL;
  double others_ns = 0, other_steps = 0, first_ns, other_ns;
  uint64_t count = 0;
  for (uint32_t i = 1; i <= state->epoch_numbers.count; i++) {
    const epoch_stats *epoch = &state->epochs[i];
    if ((int64_t)state->epoch_numbers.keys[i].a == NO_NUMBER || !epoch->steps) continue;
    count++;
    if (!first) {
      first = epoch;
      continue;
    }
    others_ns += time_of_epoch(epoch);
    other_steps += (double)epoch->steps;
  }
  measure_set(list, M_epochs, (double)count);
  if (count < 2 || !answer->training.processes) return;
  first_ns = time_of_epoch(first) / (double)answer->training.processes;
  other_ns = others_ns / other_steps * (double)first->steps / (double)answer->training.processes;
  measure_set(list, M_first_epoch, first_ns);
  measure_set(list, M_other_epochs, other_ns);
  measure_set_ratio(list, M_cold_ratio, first_ns, other_ns);
  measure_set(list, M_cold_stake, first_ns > other_ns ? first_ns - other_ns : 0);
}

static double wait_share(const trainer_line *trainer) {
  return trainer->loop_ns ? (double)trainer->class_ns[TIME_INPUT] / (double)trainer->loop_ns : 0;
}

/* Workers of trainers that hardly wait say nothing of what the others wait for. Those that wait most come first. */
static uint32_t count_waiting(const trainer_list *trainers) {
  uint32_t count = 0;
  while (count < trainers->count && wait_share(&trainers->lines[count]) >= 0.5 * wait_share(&trainers->lines[0]))
    count++;
  return count;
}

/* Whose workers are meant, if not those of all. */
static void take_waiting(measure_list *list, const summary_answer *answer, uint32_t count) {
  const state_process *first = &answer->state->processes[answer->trainers.lines[0].process];
  char text[64];
  if (count == answer->trainers.count) return;
  if (count > 1) snprintf(text, sizeof text, "%" PRIu32 " of %" PRIu32 " trainers", count, answer->trainers.count);
  else if (first->rank != NO_NUMBER) snprintf(text, sizeof text, "rank %" PRId64, first->rank);
  else snprintf(text, sizeof text, "pid %" PRIu64, first->pid);
  measure_set_text(list, M_waiting_trainers, text, strlen(text));
}

/* Of the trainer with the worker that is busiest: this one, and the others. */
static void take_busiest(measure_list *list, const summary_answer *answer, uint32_t trainers) {
  const trainer_workers *found = NULL;
  char name[48];
  double all, others;
  for (uint32_t i = 0; i < trainers; i++) {
    const trainer_workers *own = &answer->trainers.lines[i].workers;
    if (own->busiest && (!found || own->busiest_share > found->busiest_share)) found = own;
  }
  if (!found) return;
  snprintf(name, sizeof name, "pid %" PRIu64, answer->state->processes[found->busiest].pid);
  all = (double)found->busy_ns / (double)found->life_ns; /* as if all lived as long */
  others = found->count > 1 ? (all * found->count - found->busiest_share) / (found->count - 1) : all;
  if (others < 0) others = 0;
  measure_set_text(list, M_busiest_worker, name, strlen(name));
  measure_set(list, M_busiest_share, found->busiest_share);
  measure_set(list, M_other_busy, others);
  measure_set(list, M_worker_spread, found->busiest_share > others ? found->busiest_share - others : 0);
}

/* A node has no cores for more, or the samples are what has to change. */
#define WORKER_FACTOR 8
#define WORKERS_MOST 64

static void take_workers(measure_list *list, const trainer_line *trainers, uint32_t count) {
  double workers = 0, empty = 0, busy = 0, life = 0, loops = 0, enough = 0;
  for (uint32_t i = 0; i < count; i++) {
    const trainer_workers *own = &trainers[i].workers;
    workers += own->at_once;
    empty += own->empty;
    busy += (double)own->busy_ns;
    life += (double)own->life_ns;
    loops += (double)own->at_once * (double)trainers[i].loop_ns;
    if ((double)own->enough > enough) enough = (double)own->enough;
  }
  if (workers > 0 && workers < count) workers = count; /* some trainers have one, and that is not none */
  measure_set_ratio(list, M_workers, workers, count);
  measure_set_ratio(list, M_empty_workers, empty, count);
  measure_set_ratio(list, M_worker_busy, busy, life);
  measure_set_ratio(list, M_worker_presence, life, loops);
  if (enough > 0) measure_set(list, M_workers_enough, enough);
  if (enough * count > workers) {
    const int is_excess = enough * count > WORKER_FACTOR * workers || enough > WORKERS_MOST;
    measure_set(list, is_excess ? M_workers_excess : M_workers_wanted, enough);
  }
}

static void take_starts(measure_list *list, const job_costs *costs) {
  double waited = 0, starting = 0;
  for (uint32_t i = 0; i < costs->count; i++) {
    waited += costs->ranks[i].waited_ns;
    starting += costs->ranks[i].waited_starting;
  }
  measure_set(list, M_worker_start_share, waited > 0 ? starting / waited : 0);
  measure_set(list, M_worker_start_stake, starting / costs->count);
}

static int take_training(measure_list *list, const summary_answer *answer, const job_costs *costs) {
  const training_totals *training = &answer->training;
  double most = 0;
  take_cost(list, costs, COST_CHECKPOINT, M_checkpoint_share, M_checkpoint_stake);
  if (costs->is_input_known) take_cost(list, costs, COST_INPUT, M_waiting_share, M_waiting_stake);
  for (uint32_t i = 0; i < costs->count; i++) {
    const process_counts *counts = &answer->state->processes[costs->ranks[i].process].counts;
    if ((double)counts->ai_count[AI_CHECKPOINT] > most) most = (double)counts->ai_count[AI_CHECKPOINT];
  }
  if (training->processes) measure_set(list, M_checkpoints, most); /* often, only one rank saves */
  take_epochs(list, answer);
  if (answer->trainers.count) {
    const uint32_t count = count_waiting(&answer->trainers);
    take_waiting(list, answer, count);
    take_workers(list, answer->trainers.lines, count);
    take_busiest(list, answer, count);
  }
  take_starts(list, costs);
  return take_steps(list, answer, costs);
}

int measures_take(measure_list *list, const summary_answer *answer, const job_costs *costs) {
  if (!costs->count) return 1;
  take_ranks(list, answer, costs);
  if (!take_phases(list, answer, costs)) return 0;
  measures_take_io(list, answer, costs);
  return !costs->is_training || take_training(list, answer, costs);
}
