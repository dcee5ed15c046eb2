/* costcount.c - counts what the ranks of a job spent their time on.
 * SPDX-License-Identifier: MIT */
#include "costcount.h"

#include <stdlib.h>

#include "command/summary/tally/iograins.h"
#include "processlives.h"
#include "rankends.h"
#include "slowestrank.h"

#define CAPACITY_LEAST 0.1 /* of the rank that works most: less is no rank that could take over work */
#define SAVING_LEAST 0.5   /* of the waiting: else it is not the checkpoint that makes ranks wait */
#define BUSY_LEAST 0.1 /* of what the busiest process did: less is a launcher, a shell or a helper, if it has no rank */

const char *const cost_names[COSTS] = {
  [COST_COMPUTE] = "compute",     [COST_INPUT] = "input",
  [COST_COMM] = "communication",  [COST_CHECKPOINT] = "checkpoint",
  [COST_IMBALANCE] = "imbalance", [COST_START] = "start-up",
  [COST_READ] = "read",           [COST_WRITE] = "write",
  [COST_SYNC] = "sync",           [COST_META] = "metadata",
  [COST_TRANSFER] = "transfer",   [COST_COMPILE] = "compile",
  [COST_FINAL] = "finalize",      [COST_OTHER] = "other",
};

/* ---- Who counts ----------------------------------------------------------------------------------------------------- */

static int is_training(const summary_answer *answer) {
  const training_totals *training = &answer->training;
  return training_exists(training) && (training->count[AI_FETCH] || training->count[AI_STEP] || training->epochs ||
                                       training_has_updates(training) || answer->state->lost_fetches);
}

static double busy_ns(const process_counts *counts) {
  double sum = 0;
  for (int phase = 0; phase < PHASES; phase++) {
    for (int class = 0; class < TIME_OUTSIDE; class ++) sum += (double)counts->split_ns[phase][class];
  }
  return sum;
}

static int by_rank_and_work(const void *a, const void *b) {
  const rank_costs *one = a, *two = b;
  if (one->rank != two->rank) return one->rank < two->rank ? -1 : 1;
  if (one->has_communicated != two->has_communicated) return one->has_communicated ? -1 : 1;
  if (one->all_ns != two->all_ns) return one->all_ns > two->all_ns ? -1 : 1;
  return (one->process > two->process) - (one->process < two->process);
}

/* Of a sorted list, in which all_ns of those that do not train is 0: ranks without a trainer. */
static uint32_t count_others(const rank_costs *all, uint32_t count) {
  uint32_t others = 0;
  for (uint32_t i = 0, end; i < count; i = end) {
    int is_training = all[i].rank == NO_NUMBER;
    for (end = i; end < count && all[end].rank == all[i].rank; end++) is_training |= all[end].all_ns > 0;
    others += !is_training;
  }
  return others;
}

/* While they are chosen, all_ns is what they did. Who communicates is the rank, and not the shell that starts it. */
static int choose_ranks(job_costs *costs, const summary_state *state) {
  rank_costs *all = calloc((size_t)state->process_count + 1, sizeof *all);
  double most = 0;
  uint32_t count = 0;
  if (!all) return 0;
  for (uint32_t i = 1; i <= state->process_count; i++) {
    const state_process *process = &state->processes[i];
    const int is_left_out = costs->is_training && !process_is_trainer(&process->counts);
    const double busy = busy_ns(&process->counts);
    if (busy <= 0) continue;
    all[count++] = (rank_costs){.process = i,
                                .rank = process->rank,
                                .has_communicated = process->counts.comm.count > 0,
                                .all_ns = is_left_out ? 0 : busy};
    if (all[count - 1].all_ns > most) most = all[count - 1].all_ns;
  }
  qsort(all, count, sizeof *all, by_rank_and_work);
  if (costs->is_training) costs->others = count_others(all, count);
  for (uint32_t i = 0; i < count; i++) {
    const int has_rank = all[i].rank != NO_NUMBER, is_beside = !has_rank && all[count - 1].rank != NO_NUMBER;
    const int is_second = i && has_rank && all[i].rank == all[i - 1].rank;
    const int is_helper = !has_rank && all[i].all_ns < BUSY_LEAST * most; /* a rank may only compute, outside of all */
    if (all[i].all_ns <= 0 || (!costs->is_training && (is_second || is_helper))) continue;
    if (!costs->is_training && is_beside) costs->beside++;
    else all[costs->count++] = all[i];
  }
  costs->ranks = all;
  return 1;
}

static int is_annotated(const region_total *region, const summary_state *state) {
  const mpi_call call = mpi_call_classify(state_text_of(state, region->name), state_text_of(state, region->cat));
  return (region->activity == ACTIVITY_COMMUNICATION || region->activity == ACTIVITY_MPI) && call.kind == MPI_NONE;
}

/* The time in annotated communication of this name, without the calls of MPI in it. */
static uint64_t annotated_ns(const summary_state *state, uint32_t name) {
  uint64_t sum = 0;
  for (uint32_t i = 1; i <= state->process_count; i++) {
    const region_stats *regions = &state->processes[i].counts.regions;
    for (uint32_t j = 0; j < regions->count; j++) {
      const region_total *region = &regions->list[j];
      if (region->name == name && is_annotated(region, state)) sum += region->self_ns;
    }
  }
  return sum;
}

/* Whether collectives could be compared, and those that took most of their time; or there is no communication. */
static int is_waiting_known(const summary_answer *answer) {
  const collective_list *collectives = &answer->collectives;
  uint64_t compared_ns = 0, unknown_ns = 0;
  int has_compared = 0;
  for (uint32_t i = 0; i < collectives->count; i++) {
    const collective *call = &collectives->calls[i];
    has_compared |= !call->unknown;
    if (!call->unknown) compared_ns += call->time_ns;
    else if (mpi_is_collective((uint8_t)call->kind)) unknown_ns += call->time_ns;
    else if (call->kind == MPI_NONE) unknown_ns += annotated_ns(answer->state, call->name);
  }
  return has_compared ? unknown_ns <= compared_ns : !collectives->count;
}

static int is_of_kind(enum io_kind io, enum io_cost kind) {
  if (io == IO_NONE) return 0;
  if (io == IO_READ || io == IO_WRITE || io == IO_COPY) {
    return io == IO_COPY ? kind != IO_COST_METADATA : kind == (io == IO_READ ? IO_COST_READ : IO_COST_WRITE);
  }
  if (io == IO_SYNC) return kind == IO_COST_SYNC;
  return kind == IO_COST_METADATA || (kind == IO_COST_SYNC && io == IO_CLOSE);
}

dft_text costs_call(const summary_answer *answer, enum io_cost kind, double *share) {
  const summary_state *state = answer->state;
  dft_text found = {"", 0};
  uint64_t most = 0, all = 0;
  for (uint32_t i = 1; i <= state->call_numbers.count; i++) {
    const numbered key = state->call_numbers.keys[i];
    const dft_text name = state_text_of(state, (uint32_t)key.a);
    event_class class = {0};
    event_classify(&class, NULL, name, state_text_of(state, (uint32_t)key.b));
    if (!is_of_kind((enum io_kind) class.io, kind)) continue;
    all += state->calls[i].ns;
    if (state->calls[i].ns <= most) continue;
    most = state->calls[i].ns;
    found = name;
  }
  if (kind == IO_COST_SYNC && all > answer->io.sync_ns) all = answer->io.sync_ns; /* of some files only */
  if (most > all) most = all;
  *share = all ? (double)most / (double)all : 0;
  return found;
}

/* ---- What they did -------------------------------------------------------------------------------------------------- */

static const enum cost cost_of_class[TIME_CLASSES] = {
  [TIME_COMPUTE] = COST_COMPUTE,   [TIME_INPUT] = COST_INPUT,
  [TIME_COMM] = COST_COMM,         [TIME_CHECKPOINT] = COST_CHECKPOINT,
  [TIME_READ] = COST_READ,         [TIME_WRITE] = COST_WRITE,
  [TIME_SYNC] = COST_SYNC,         [TIME_META] = COST_META,
  [TIME_TRANSFER] = COST_TRANSFER, [TIME_COMPILE] = COST_COMPILE,
  [TIME_OUTSIDE] = COST_OTHER,
};

static void split_time(rank_costs *rank, const process_counts *counts, int is_training) {
  rank->all_ns = 0;
  for (int phase = 0; phase < PHASES; phase++) {
    const int is_in_base = is_training ? phase == PHASE_LOOP : phase != PHASE_START;
    for (int class = 0; class < TIME_CLASSES; class ++) {
      const double ns = (double)counts->split_ns[phase][class];
      rank->all_ns += ns;
      if (is_in_base) rank->ns[cost_of_class[class]] += ns;
      if (is_in_base || !is_training) rank->base_ns += ns;
      if (phase == PHASE_START) rank->ns[COST_START] += ns;
      if (phase == PHASE_END) rank->end_ns += ns;
      if (class == TIME_READ) rank->io_ns[IO_COST_READ] += ns;
      if (class == TIME_WRITE) rank->io_ns[IO_COST_WRITE] += ns;
      if (class == TIME_SYNC) rank->io_ns[IO_COST_SYNC] += ns;
      if (class == TIME_META) rank->io_ns[IO_COST_METADATA] += ns;
    }
    for (int kind = 0; is_in_base && !is_training && kind < ASIDES; kind++)
      rank->aside_ns[kind] += (double)counts->aside_ns[kind][phase];
  }
}

/* The last call of MPI is no work, but it has a name. It counts where there is nothing else: other threads may still work, and a
 * region may be around it. */
static void split_final(job_costs *costs, rank_costs *rank, const summary_state *state) {
  const process_counts *counts = &state->processes[rank->process].counts;
  const region_stats *regions = &counts->regions;
  const int is_after = counts->finals && counts->final_first >= counts->loop_last;
  const double outside = is_after ? (double)counts->split_ns[PHASE_END][TIME_OUTSIDE] : rank->ns[COST_OTHER];
  for (uint32_t i = 0; i < regions->count; i++) {
    const region_total *region = &regions->list[i];
    if (region->activity != ACTIVITY_FINAL) continue;
    rank->final_ns += (double)region->self_ns;
    costs->final_name = state_text_of(state, region->name);
  }
  if (rank->final_ns > outside) rank->final_ns = outside;
  rank->ns[COST_FINAL] = rank->final_ns;
  rank->ns[COST_OTHER] -= rank->final_ns;
}

/* Regions that read or write may be all there is, or be around calls: their self times are without those. */
static void split_calls(rank_costs *rank, const process_counts *counts) {
  double in_regions[IO_COSTS] = {0}, in_calls[IO_COSTS] = {0};
  in_calls[IO_COST_READ] = (double)counts->io.read.ns;
  in_calls[IO_COST_WRITE] = (double)counts->io.write.ns;
  for (uint32_t i = 0; i < counts->regions.count; i++) {
    const region_total *region = &counts->regions.list[i];
    if (region->activity == ACTIVITY_READ) in_regions[IO_COST_READ] += (double)region->self_ns;
    if (region->activity == ACTIVITY_WRITE) in_regions[IO_COST_WRITE] += (double)region->self_ns;
  }
  for (int kind = 0; kind < IO_COSTS; kind++) {
    rank->call_ns[kind] = rank->io_ns[kind];
    if (in_regions[kind] > 0) rank->call_ns[kind] *= in_calls[kind] / (in_calls[kind] + in_regions[kind]);
  }
}

static double lesser(double one, double two) {
  return two < 0 ? 0 : one < two ? one : two;
}

/* Of the call of a process, it is not known how much is waiting. */
static int is_doubtful(const comm_call *own, const collective_list *collectives, const summary_state *state) {
  const collective *call = own->kind == MPI_FILE ? NULL : collective_list_call(collectives, own->name, own->kind);
  event_class class = {0};
  if (!call || !call->unknown) return 0;
  event_classify(&class, NULL, state_text_of(state, own->name), (dft_text){"MPI", 3});
  return own->kind == MPI_NONE || class.stage == STAGE_NONE; /* not the first and the last one */
}

/* A send may wait for the receiver, and a receive for more than a late sender. Calls before the loop count, too: it is a bound. */
static void find_doubtful(job_costs *costs, rank_costs *rank, const summary_answer *answer) {
  const comm_counts *comm = &answer->state->processes[rank->process].counts.comm;
  double sum = 0;
  for (uint32_t i = 0; i < comm->count; i++) {
    const comm_call *own = &comm->calls[i];
    if (!is_doubtful(own, &answer->collectives, answer->state)) continue;
    sum += (double)own->time_ns;
    costs->is_all_doubtful |= own->kind == MPI_NONE || mpi_is_collective((uint8_t)own->kind);
  }
  rank->doubtful_ns = lesser(rank->ns[COST_COMM], sum - rank->waits[WAIT_MESSAGE]);
}

/* The part of what others waited for a rank in which it was not itself in a call of MPI where it may have waited, too: for a
 * message, or for the last one in a collective. */
static double part_caused(const delay_cause *before, const summary_state *state) {
  const dft_text cat = state_text_of(state, before->cat);
  const mpi_call call = mpi_call_classify(state_text_of(state, before->name), cat);
  const int may_wait = mpi_is_point_to_point(call.kind) || mpi_is_collective(call.kind);
  return before->is_known && before->name && may_wait ? 1 - before->share : 1;
}

/* The wait for other ranks is not communication. */
static void split_waiting(rank_costs *rank, const collective_list *collectives, const summary_state *state) {
  const comm_rank *own = collective_list_rank(collectives, rank->rank, rank->process);
  const wait_sums *waits;
  double waited, counted, part;
  if (!own) return;
  waits = &own->waits;
  part = part_caused(&own->before, state);
  rank->unsure_ns = lesser(rank->ns[COST_COMM], (double)waits->unsure_ns);
  rank->in_sends_ns = lesser(rank->ns[COST_COMM], (double)waits->in_sends_ns);
  rank->caused_ns = part * (double)waits->loop_caused_ns;
  rank->end_caused_ns = part * (double)waits->end_caused_ns;
  rank->start_caused_ns = part * (double)(waits->caused_ns - waits->loop_caused_ns);
  waited = (double)waits->loop_waited_ns;
  counted = waited < rank->ns[COST_COMM] ? waited : rank->ns[COST_COMM]; /* some of it overlaps with compute */
  if (counted <= 0) return;
  rank->waits[WAIT_MESSAGE] = counted * (double)waits->loop_late_ns / waited;
  rank->waits[WAIT_COLLECTIVE] = counted - rank->waits[WAIT_MESSAGE];
  rank->ns[COST_IMBALANCE] = counted;
  rank->ns[COST_COMM] -= counted;
}

/* I/O calls that are no cost, because another thread of the process seems to compute meanwhile. */
static double hidden_io(const rank_costs *rank, process_counts *counts) {
  double hidden = 0;
  for (int kind = 0; kind < GRAIN_KINDS; kind++) hidden += (double)io_grains_busy(&counts->grains[kind]);
  for (int kind = 0; kind < IO_COSTS; kind++) hidden -= rank->call_ns[kind];
  return hidden < 0 ? 0 : hidden < rank->base_ns ? hidden : rank->base_ns;
}

/* The rank that the others waited for most; NULL: nobody waited. */
static const rank_costs *find_last(const job_costs *costs) {
  const rank_costs *last = NULL;
  for (uint32_t i = 0; i < costs->count; i++) {
    const rank_costs *rank = &costs->ranks[i];
    if (rank->caused_ns > (last ? last->caused_ns : 0)) last = rank;
  }
  return last;
}

/* A rank that saves makes the others wait for as long as it saves longer than they do. */
static void blame_saving(job_costs *costs) {
  const rank_costs *last = find_last(costs);
  double waited = 0, saving = 0, saves;
  if (!last || last->rank == NO_NUMBER) return;
  saves = last->ns[COST_CHECKPOINT];
  for (uint32_t i = 0; i < costs->count; i++) {
    const rank_costs *rank = &costs->ranks[i];
    waited += rank->ns[COST_IMBALANCE];
    saving += lesser(rank->ns[COST_IMBALANCE], saves - rank->ns[COST_CHECKPOINT]);
  }
  if (waited <= 0 || saving < SAVING_LEAST * waited) return;
  costs->saving_rank = last->rank;
  costs->waited_for_saving = saving / costs->count;
  for (uint32_t i = 0; i < costs->count; i++) {
    rank_costs *rank = &costs->ranks[i];
    const double own = lesser(rank->ns[COST_IMBALANCE], saves - rank->ns[COST_CHECKPOINT]);
    rank->ns[COST_IMBALANCE] -= own;
    rank->waits[WAIT_COLLECTIVE] -= lesser(own, rank->waits[WAIT_COLLECTIVE]);
    rank->ns[COST_CHECKPOINT] += own;
  }
}

static void add_up(job_costs *costs) {
  for (uint32_t i = 0; i < costs->count; i++) {
    const rank_costs *rank = &costs->ranks[i];
    costs->base_ns += rank->base_ns / costs->divisor;
    costs->job_ns += rank->all_ns / costs->divisor;
    costs->end_ns += rank->end_ns / costs->divisor;
    costs->unsure_ns += rank->unsure_ns / costs->divisor;
    costs->in_sends_ns += rank->in_sends_ns / costs->divisor;
    costs->doubtful_ns += rank->doubtful_ns / costs->divisor;
    for (int kind = 0; kind < ASIDES; kind++) costs->aside_ns[kind] += rank->aside_ns[kind] / costs->divisor;
    for (int cost = 0; cost < COSTS; cost++) costs->ns[cost] += rank->ns[cost] / costs->divisor;
    for (int wait = 0; wait < WAITS; wait++) costs->waits[wait] += rank->waits[wait] / costs->divisor;
  }
}

static double start_of(const rank_costs *rank, int is_training) {
  return is_training ? 0 : rank->ns[COST_START]; /* else it is not in the base */
}

static double work_of(const rank_costs *rank, int is_training) {
  const double work = rank->base_ns - rank->ns[COST_IMBALANCE] - start_of(rank, is_training);
  return work > 0 ? work : 0;
}

/* What a rank would take if the work was shared by all. But where most ranks work, one that only hands it out cannot take over
 * any. */
static void balance(job_costs *costs) {
  double most = 0, sum = 0, start = 0, doubtful = 0;
  for (uint32_t i = 0; i < costs->count; i++) {
    const double work = work_of(&costs->ranks[i], costs->is_training);
    if (work > most) most = work;
  }
  for (uint32_t i = 0; i < costs->count; i++) {
    const rank_costs *rank = &costs->ranks[i];
    const double work = work_of(rank, costs->is_training);
    sum += work;
    doubtful += lesser(work, rank->doubtful_ns);
    start += start_of(rank, costs->is_training) / costs->count;
    costs->workers += work >= CAPACITY_LEAST * most;
  }
  if (2 * costs->workers <= costs->count) costs->workers = costs->count; /* most of them only wait: they could help */
  costs->balanced_ns = costs->workers ? start + sum / costs->workers : 0;
  if (costs->balanced_ns > costs->base_ns) costs->balanced_ns = costs->base_ns;
  costs->least_ns = costs->balanced_ns - (costs->workers ? doubtful / costs->workers : 0);
  if (costs->least_ns < 0) costs->least_ns = 0;
}

/* Ranks are sorted: those without a number come first. */
static int has_only_processes(const job_costs *costs) {
  return !costs->is_training && costs->count > 1 && costs->ranks[costs->count - 1].rank == NO_NUMBER;
}

/* Some ranks have ended, and others stopped before: what was waited for those was for nothing that is known. */
static int is_one_lost(const job_costs *costs, const summary_state *state) {
  uint32_t ended = 0;
  for (uint32_t i = 0; i < costs->count; i++) ended += state->processes[costs->ranks[i].process].facts.is_ended != 0;
  return ended && ended < costs->count;
}

int costs_count(job_costs *costs, const summary_answer *answer) {
  *costs = (job_costs){
    .saving_rank = NO_NUMBER, .is_training = is_training(answer), .is_input_known = answer->training.is_fetch_known};
  if (!choose_ranks(costs, answer->state)) return 0;
  costs->divisor = has_only_processes(costs) ? 1 : costs->count;
  if (has_only_processes(costs) && !process_lives_measure(&costs->lives, costs, answer->state)) return 0;
  costs->is_imbalance_known = costs->count < 2 || (is_waiting_known(answer) && !is_one_lost(costs, answer->state));
  for (uint32_t i = 0; i < costs->count; i++) {
    split_time(&costs->ranks[i], &answer->state->processes[costs->ranks[i].process].counts, costs->is_training);
    if (!costs->is_training) split_final(costs, &costs->ranks[i], answer->state);
    split_calls(&costs->ranks[i], &answer->state->processes[costs->ranks[i].process].counts);
    split_waiting(&costs->ranks[i], &answer->collectives, answer->state);
    find_doubtful(costs, &costs->ranks[i], answer);
    costs->is_inference |= answer->state->processes[costs->ranks[i].process].counts.is_inference != 0;
    if (!costs->is_training)
      costs->hidden_ns += hidden_io(&costs->ranks[i], &answer->state->processes[costs->ranks[i].process].counts) /
                          costs->divisor;
  }
  slowest_rank_blame(costs);
  if (costs->is_training) blame_saving(costs);
  if (!costs->is_training && !rank_ends_measure(costs, answer)) return 0;
  add_up(costs);
  balance(costs);
  return 1;
}

void costs_free(job_costs *costs) {
  free(costs->ranks);
  *costs = (job_costs){0};
}
