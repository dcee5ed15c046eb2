/* verdict_cause.c - why a cost is there.
 * SPDX-License-Identifier: MIT */
#include "verdict_cause.h"

#include <stdlib.h>
#include <string.h>

#include "cause_words.h"
#include "iocause.h"
#include "phasecause.h"

static int name_io(verdict_cause *cause, enum io_cost kind, double share, const summary_answer *answer) {
  cause->share = share;
  return io_cause_name(cause, kind, 1, answer);
}

/* What coincides with the waiting for data. */
static int explain_input(verdict_cause *cause, const summary_answer *answer, const job_costs *costs) {
  double waited = 0, with[IO_COSTS] = {0}, loading = 0, in_calls = 0, starting = 0;
  int most = 0;
  for (uint32_t i = 0; i < costs->count; i++) {
    const rank_costs *rank = &costs->ranks[i];
    waited += rank->waited_ns;
    loading += rank->waited_loading;
    starting += rank->waited_starting;
    in_calls += rank->waited_in_calls;
    for (int kind = 0; kind < IO_COSTS; kind++) with[kind] += rank->waited_with[kind];
  }
  for (int kind = 1; kind < IO_COSTS; kind++) {
    if (with[kind] > with[most]) most = kind;
  }
  if (waited <= 0) return 1;
  if (starting >= SHARE_MOST * waited) {
    cause->what = "worker-start";
    cause->share = starting / waited;
    return 1;
  }
  cause->is_about = costs->is_coarse;
  if (with[most] >= SHARE_CAUSE * waited) return name_io(cause, (enum io_cost)most, with[most] / waited, answer);
  if (loading - in_calls >= SHARE_CAUSE * waited) {
    cause->what = costs->has_calls ? "preparing" : "loading";
    cause->share = (loading - in_calls) / waited;
  }
  return 1;
}

/* Regions of I/O, without the calls inside: the one that takes at least 80 % of their time, if there is one. */
static int name_region(verdict_cause *cause, double share, uint64_t activity, const summary_answer *answer,
                       const job_costs *costs) {
  const region_total *most = NULL;
  double all = 0;
  for (uint32_t i = 0; i < costs->count; i++) {
    const region_stats *regions = &answer->state->processes[costs->ranks[i].process].counts.regions;
    for (uint32_t j = 0; j < regions->count; j++) {
      const region_total *next = &regions->list[j];
      if (next->activity != activity) continue;
      all += (double)next->self_ns;
      if (!most || next->self_ns > most->self_ns) most = next;
    }
  }
  if (!most || (double)most->self_ns * costs->count < SHARE_CAUSE * all) return 1;
  cause->what = "region";
  cause->share = share;
  cause->call = shown_name(state_text_of(answer->state, most->name));
  return cause->call != NULL;
}

/* Most of the calls that move no data are calls of MPI-IO. */
static int name_mpiio(verdict_cause *cause, double share, const measure_list *measures) {
  cause->what = "metadata";
  cause->share = share;
  cause->call = strdup(measures->values[M_mpiio_call].text);
  return cause->call != NULL;
}

/* How much of the I/O of a kind is calls, and not regions. */
static double part_of_calls(const job_costs *costs, enum io_cost kind) {
  double all = 0, calls = 0;
  for (uint32_t i = 0; i < costs->count; i++) {
    all += costs->ranks[i].io_ns[kind];
    calls += costs->ranks[i].call_ns[kind];
  }
  return all > 0 ? calls / all : 0;
}

static int explain_io(verdict_cause *cause, const summary_answer *answer, const job_costs *costs,
                      const measure_list *measures) {
  const double mpiio = measures->values[M_mpiio_call].is_known ? measures->values[M_mpiio_stake].number : 0;
  const double all = costs->ns[COST_READ] + costs->ns[COST_WRITE] + costs->ns[COST_SYNC] + costs->ns[COST_META];
  static const struct {
    enum cost cost;
    enum io_cost kind;
    enum activity activity; /* of its regions */
  } kinds[] = {{COST_READ, IO_COST_READ, ACTIVITY_READ},
               {COST_WRITE, IO_COST_WRITE, ACTIVITY_WRITE},
               {COST_SYNC, IO_COST_SYNC, ACTIVITY_OTHER},
               {COST_META, IO_COST_METADATA, ACTIVITY_METADATA}};
  for (int i = 0; i < 4; i++) {
    const double ns = costs->ns[kinds[i].cost], own = ns * (1 - part_of_calls(costs, kinds[i].kind));
    const double regions = kinds[i].cost != COST_META ? own : mpiio < ns ? mpiio : ns;
    if (ns - regions >= SHARE_CAUSE * all) return name_io(cause, kinds[i].kind, (ns - regions) / all, answer);
    if (regions < SHARE_CAUSE * all) continue;
    if (kinds[i].cost == COST_META) return name_mpiio(cause, regions / all, measures);
    return name_region(cause, regions / all, kinds[i].activity, answer, costs);
  }
  return 1;
}

/* All ranks have to call it. */
static int is_collective(const char *call) {
  static const char *const parts[] = {"_all",      "_ordered",  "_open",        "_close",
                                      "_set_view", "_set_size", "_preallocate", "_sync"};
  for (size_t i = 0; strncmp(call, "MPI_File_", 9) == 0 && i < sizeof parts / sizeof parts[0]; i++) {
    if (strstr(call, parts[i])) return 1;
  }
  return 0;
}

static double io_of(const double ns[COSTS]) {
  return ns[COST_READ] + ns[COST_WRITE] + ns[COST_SYNC] + ns[COST_META];
}

/* A rank comes late to calls that ranks make together: there, it takes less time than the others. */
static int may_wait(const job_verdict *verdict, const job_costs *costs, const measure_list *measures) {
  const double lost = measures->values[M_straggler_stake].number;
  if (lost < SHARE_MOST * verdict->ns) return 0;
  for (uint32_t i = 0; i < costs->count; i++) {
    if (costs->ranks[i].rank == (int64_t)measures->values[M_straggler].number)
      return io_of(costs->ns) - io_of(costs->ranks[i].ns) >= SHARE_MOST * lost;
  }
  return 0;
}

/* The same of one that is in no region and no call before them. NO_NUMBER: there is none. */
static int64_t find_idle(const job_verdict *verdict, const job_costs *costs) {
  for (uint32_t i = 0; i < costs->count; i++) {
    const rank_costs *rank = &costs->ranks[i];
    const double less = io_of(costs->ns) - io_of(rank->ns), idle = rank->ns[COST_OTHER] - costs->ns[COST_OTHER];
    if (less >= SHARE_MOST * verdict->ns && idle >= SHARE_MOST * less) return rank->rank;
  }
  return NO_NUMBER;
}

static void find_joint(job_verdict *verdict, const job_costs *costs, const measure_list *measures) {
  if (!verdict->cause.call || !is_collective(verdict->cause.call)) return;
  verdict->is_joint = may_wait(verdict, costs, measures);
  if (!verdict->is_joint) verdict->idle_rank = find_idle(verdict, costs);
  verdict->is_joint |= verdict->idle_rank != NO_NUMBER;
  verdict->is_sure &= !verdict->is_joint;
}

/* What the rank did while the others waited for it. It says nothing of those that had ended. */
static int explain_delays(verdict_cause *cause, const job_verdict *verdict, const summary_answer *answer,
                          const job_costs *costs) {
  const collective_list *list = &answer->collectives;
  const double late_part = verdict->ns > 0 ? 1 - costs->waits[WAIT_END] / verdict->ns : 0;
  for (uint32_t i = 0; i < list->rank_count; i++) {
    const delay_cause *before = &list->ranks[i].before;
    const double share = before->share * verdict->worst_share;
    dft_text name;
    if (list->ranks[i].rank != verdict->worst_rank || !before->is_known) continue;
    if (late_part < SHARE_CAUSE || share < SHARE_CAUSE) return 1;
    name = state_text_of(answer->state, before->name);
    cause->what = before->name ? "before" : "outside";
    cause->share = share;
    cause->call = before->name ? shown_name(name) : NULL;
    return !before->name || cause->call;
  }
  return 1;
}

/* The region that takes longer on the rank that the others wait for. */
static int explain_imbalance(verdict_cause *cause, const job_verdict *verdict, const measure_list *measures) {
  const measure_value *region = &measures->values[M_straggler_region];
  const double lost = measures->values[M_straggler_stake].number;
  if (!region->is_known || (int64_t)measures->values[M_straggler].number != verdict->worst_rank) return 1;
  if (lost < SHARE_CAUSE * verdict->ns) return 1;
  cause->what = "region";
  cause->share = lost < verdict->ns ? lost / verdict->ns : 1;
  cause->call = strdup(region->text);
  return cause->call != NULL;
}

int verdict_find_cause(job_verdict *verdict, const summary_answer *answer, const job_costs *costs,
                       const measure_list *measures) {
  switch (verdict->class) {
    case BOUND_INPUT: return explain_input(&verdict->cause, answer, costs);
    case BOUND_IO:
      if (!explain_io(&verdict->cause, answer, costs, measures)) return 0;
      find_joint(verdict, costs, measures);
      return 1;
    case BOUND_IMBALANCE:
      if (!explain_delays(&verdict->cause, verdict, answer, costs)) return 0;
      return verdict->cause.call || explain_imbalance(&verdict->cause, verdict, measures);
    case BOUND_START: return phase_cause_find(&verdict->cause, answer, costs, PHASE_START);
    default: return 1;
  }
}
