/* training.c - how a training went.
 * SPDX-License-Identifier: MIT */
#include "training.h"

#include <stdlib.h>

#define ANCESTORS_MAX 64 /* pids are reused, so ancestors may form a circle */

/* ---- Workers -------------------------------------------------------------------------------------------------------- */

/* Processes by what identifies them to others. */
typedef struct process_index {
  numbering pids;            /* of pairs host, pid */
  uint32_t *process_of_pid;  /* by number in pids */
  numbering ranks;           /* of pairs host, rank; trainers only */
  uint32_t *trainer_of_rank; /* by number in ranks; 0: there are several */
} process_index;

static int is_trainer(const state_process *process) {
  return process_is_trainer(&process->counts);
}

/* If several traces have the same pid, the trainer's is meant, then the first one. */
static int is_preferred(const state_process *one, const state_process *two) {
  if (is_trainer(one) != is_trainer(two)) return is_trainer(one);
  return one->source < two->source;
}

static int index_processes(process_index *index, const summary_state *state) {
  const uint32_t count = state->process_count;
  index->pids.limit = index->ranks.limit = UINT32_MAX - 1;
  index->process_of_pid = calloc((size_t)count + 1, sizeof index->process_of_pid[0]);
  index->trainer_of_rank = calloc((size_t)count + 1, sizeof index->trainer_of_rank[0]);
  if (!index->process_of_pid || !index->trainer_of_rank) return 0;
  for (uint32_t i = 1; i <= count; i++) {
    const state_process *process = &state->processes[i];
    int is_new;
    uint32_t number = numbering_of(&index->pids, process->host, process->pid, &is_new);
    if (!number) return 0;
    if (is_new || is_preferred(process, &state->processes[index->process_of_pid[number]])) {
      index->process_of_pid[number] = i;
    }
    if (!is_trainer(process)) continue;
    number = numbering_of(&index->ranks, process->host, (uint64_t)process->rank, &is_new);
    if (!number) return 0;
    index->trainer_of_rank[number] = is_new ? i : 0;
  }
  return 1;
}

static uint32_t parent_of(const summary_state *state, const process_index *index, uint32_t number) {
  const state_process *process = &state->processes[number];
  uint32_t found = process->ppid ? numbering_find(&index->pids, process->host, process->ppid) : 0;
  return found ? index->process_of_pid[found] : 0;
}

/* 0: the process belongs to no trainer, or it is unclear to which. */
static uint32_t trainer_of(const summary_state *state, const process_index *index, uint32_t number) {
  const state_process *process = &state->processes[number];
  uint32_t ancestor = number, found;
  for (int i = 0; ancestor && i < ANCESTORS_MAX; i++) {
    if (is_trainer(&state->processes[ancestor])) return ancestor;
    ancestor = parent_of(state, index, ancestor);
  }
  found = numbering_find(&index->ranks, process->host, (uint64_t)process->rank);
  return found ? index->trainer_of_rank[found] : 0;
}

uint32_t *training_trainers(const summary_state *state) {
  process_index index = {0};
  uint32_t *trainers = calloc((size_t)state->process_count + 1, sizeof *trainers);
  int is_good = index_processes(&index, state) && trainers;
  for (uint32_t i = 1; is_good && i <= state->process_count; i++) {
    if (!is_trainer(&state->processes[i])) trainers[i] = trainer_of(state, &index, i);
  }
  numbering_free(&index.pids);
  numbering_free(&index.ranks);
  free(index.process_of_pid);
  free(index.trainer_of_rank);
  if (is_good) return trainers;
  free(trainers);
  return NULL;
}

int training_has_split(const summary_state *state) {
  uint32_t *trainers = NULL;
  int is_split = 0;
  for (uint32_t i = 1; i <= state->process_count; i++) {
    if (!state->processes[i].is_orphan) continue;
    if (!trainers) trainers = training_trainers(state);
    is_split |= trainers && trainers[i];
  }
  free(trainers);
  return is_split;
}

int worker_lists_init(worker_lists *workers, const summary_state *state) {
  const uint32_t count = state->process_count;
  uint32_t *trainers = training_trainers(state);
  int is_good;
  *workers = (worker_lists){.first = calloc((size_t)count + 1, sizeof *workers->first),
                            .next = calloc((size_t)count + 1, sizeof *workers->next),
                            .is_worker = calloc((size_t)count + 1, sizeof *workers->is_worker)};
  is_good = trainers && workers->first && workers->next && workers->is_worker;
  for (uint32_t i = count; is_good && i > 0; i--) {
    if (!trainers[i] || spanset_is_empty(&state->processes[i].counts.data)) continue;
    workers->next[i] = workers->first[trainers[i]];
    workers->first[trainers[i]] = i;
    workers->is_worker[i] = 1;
  }
  free(trainers);
  return is_good;
}

uint32_t worker_lists_count(const worker_lists *workers, uint32_t trainer) {
  uint32_t count = 0;
  for (uint32_t i = workers->first[trainer]; i; i = workers->next[i]) count++;
  return count;
}

void worker_lists_free(worker_lists *workers) {
  free(workers->first);
  free(workers->next);
  free(workers->is_worker);
  *workers = (worker_lists){0};
}

/* ---- Sums ----------------------------------------------------------------------------------------------------------- */

int training_loop(process_counts *counts, spanset *loop) {
  spanset whole = {0}, without = {0};
  const int is_good = spanset_add(&whole, counts->loop_first, counts->loop_last) &&
                      spanset_add_rest(&without, &whole, &counts->pauses) &&
                      spanset_add_rest(loop, &without, &counts->evaluation);
  spanset_free(&whole);
  spanset_free(&without);
  return is_good;
}

/* What of it is in the training loop. `loading`: of the process and of its workers. */
static int add_train_times(process_counts *counts, spanset *const *loading, uint32_t count, training_totals *sum) {
  spanset loop = {0}, waits = {0}, *whole = &loop, *waiting = &waits;
  spanset *compute = &counts->compute, *fetch = &counts->fetch;
  span_lengths of_compute = {0}, of_fetch = {0}, of_waits = {0}, of_loading = {0};
  const int is_good = training_loop(counts, &loop) && spanset_add_rest(&waits, fetch, compute) &&
                      spanset_measure(&compute, 1, &whole, 1, &of_compute) &&
                      spanset_measure(&fetch, 1, &whole, 1, &of_fetch) &&
                      spanset_measure(&waiting, 1, &whole, 1, &of_waits) &&
                      spanset_measure(loading, count, &whole, 1, &of_loading);
  spanset_free(&loop);
  spanset_free(&waits);
  sum->train.ns += of_compute.two;
  sum->train.compute_ns += of_compute.common;
  sum->train.fetch_ns += of_fetch.common;
  sum->train.wait_ns += of_waits.common;
  sum->train.data_ns += of_loading.common;
  return is_good;
}

/* The times of a process, with the loading of its workers. */
static int add_times(summary_state *state, const worker_lists *workers, uint32_t number, training_totals *sum) {
  process_counts *counts = &state->processes[number].counts;
  spanset *compute = &counts->compute, *fetch = &counts->fetch, **loading;
  spanset loop = {0}, *whole = &loop;
  span_lengths of_fetch = {0}, of_loading = {0}, of_loop = {0};
  uint32_t count = 1;
  int is_good;
  loading = malloc(((size_t)worker_lists_count(workers, number) + 1) * sizeof(spanset *));
  if (!loading) return 0;
  loading[0] = &counts->data;
  for (uint32_t i = workers->first[number]; i; i = workers->next[i]) {
    loading[count++] = &state->processes[i].counts.data;
  }
  is_good = spanset_measure(&fetch, 1, &compute, 1, &of_fetch) &&
            spanset_measure(loading, count, &compute, 1, &of_loading) &&
            spanset_add(&loop, counts->loop_first, counts->loop_last) &&
            spanset_measure(loading, count, &whole, 1, &of_loop) &&
            (!process_is_trainer(counts) || add_train_times(counts, loading, count, sum));
  free(loading);
  spanset_free(&loop);
  sum->compute_ns += of_fetch.two;
  sum->fetch_ns += of_fetch.one;
  sum->wait_ns += of_fetch.one - of_fetch.common;
  sum->data_ns += of_loading.one;
  if (process_is_trainer(counts)) sum->data_in_loop_ns += of_loop.common;
  sum->hidden_ns += of_loading.common;
  return is_good;
}

static void add_steps(const summary_state *state, training_totals *sum) {
  sum->steps_least = sum->processes ? UINT64_MAX : 0;
  for (uint32_t i = 1; i <= state->process_count; i++) {
    const process_counts *counts = &state->processes[i].counts;
    const uint64_t steps = counts->steps ? counts->steps->durations.count : 0;
    if (steps > sum->steps) sum->steps = steps;
    if (counts->batches > sum->batches) sum->batches = counts->batches;
    if (process_is_trainer(counts) && steps < sum->steps_least) sum->steps_least = steps;
  }
}

/* Threads are sorted by process. */
static int add_loops(summary_state *state, training_totals *sum) {
  uint32_t thread = 0;
  int is_good = 1;
  for (uint32_t i = 1; i <= state->process_count; i++) {
    process_counts *counts = &state->processes[i].counts;
    spanset loop = {0}, *whole = &loop, *pauses = &counts->pauses;
    span_lengths of_pauses = {0};
    int64_t first = counts->loop_first, last = counts->loop_last;
    for (; thread < state->thread_count && state->threads[thread].process == i; thread++) {
      if (state->threads[thread].first < first) first = state->threads[thread].first;
      if (state->threads[thread].last > last) last = state->threads[thread].last;
    }
    if (!process_is_trainer(counts)) continue;
    is_good &= spanset_add(&loop, counts->loop_first, counts->loop_last) &&
               spanset_measure(&pauses, 1, &whole, 1, &of_pauses);
    spanset_free(&loop);
    sum->pause_ns += of_pauses.one;
    sum->loop_ns += of_pauses.two - of_pauses.common;
    sum->before_ns += state->processes[i].facts.age_ns;
    sum->startup_ns += time_between(first, counts->loop_first) + state->processes[i].facts.age_ns;
    sum->teardown_ns += time_between(counts->loop_last, last);
  }
  return is_good;
}

/* Whether there are several trainers without ranks, and their loops do not overlap. */
static int find_sequence(const summary_state *state, training_totals *sum) {
  time_span *loops = malloc(((size_t)state->process_count + 1) * sizeof *loops);
  uint32_t count = 0;
  int is_apart = 1;
  if (!loops) return 0;
  for (uint32_t i = 1; i <= state->process_count; i++) {
    const process_counts *counts = &state->processes[i].counts;
    if (!process_is_trainer(counts)) continue;
    loops[count++] = (time_span){counts->loop_first, counts->loop_last};
    is_apart &= state->processes[i].rank == NO_NUMBER;
  }
  qsort(loops, count, sizeof *loops, time_span_order);
  for (uint32_t i = 1; i < count; i++) is_apart &= loops[i].start >= loops[i - 1].end;
  sum->is_sequence = is_apart && count > 1;
  free(loops);
  return 1;
}

int training_sum(summary_state *state, training_totals *sum) {
  worker_lists workers;
  int is_good = worker_lists_init(&workers, state);
  state_drop_silent_epochs(state);
  is_good &= state->is_good;
  *sum = (training_totals){.epochs = state->epoch_numbers.count};
  sum->epochs -= numbering_find(&state->epoch_numbers, (uint64_t)NO_NUMBER, 0) != 0;
  for (uint32_t i = 1; is_good && i <= state->process_count; i++) {
    const process_counts *counts = &state->processes[i].counts;
    for (int kind = 0; kind < AI_KINDS; kind++) {
      sum->count[kind] += counts->ai_count[kind];
      sum->ns[kind] += counts->ai_ns[kind];
    }
    sum->updates += counts->updates;
    sum->processes += process_is_trainer(counts);
    if (!workers.is_worker[i]) is_good = add_times(state, &workers, i, sum);
  }
  sum->is_fetch_known = !state->lost_fetches && (sum->count[AI_FETCH] || sum->count[AI_START]);
  add_steps(state, sum);
  is_good = is_good && add_loops(state, sum) && find_sequence(state, sum);
  worker_lists_free(&workers);
  return is_good;
}
