/* training.c - how a training went.
 * SPDX-License-Identifier: MIT */
#include "training.h"

#include <stdlib.h>

#define ANCESTORS_MAX 64 /* pids are reused, so ancestors may form a circle */

static int is_trainer(const traced_process *process) {
  return process->ai_count[AI_COMPUTE] || process->ai_count[AI_FETCH];
}

/* ---- Workers -------------------------------------------------------------------------------------------------------- */

/* Processes by what identifies them to others. */
typedef struct process_index {
  numbering pids;            /* of pairs host, pid */
  uint32_t *process_of_pid;  /* by number in pids */
  numbering ranks;           /* of pairs host, rank; trainers only */
  uint32_t *trainer_of_rank; /* by number in ranks; 0: there are several */
} process_index;

/* If several traces have the same pid, the trainer's is meant, then the first one. */
static int is_preferred(const traced_process *one, const traced_process *two) {
  if (is_trainer(one) != is_trainer(two)) return is_trainer(one);
  return one->source < two->source;
}

static int index_processes(process_index *index, const analysis *shared) {
  const uint32_t count = shared->process_numbers.count;
  index->pids.limit = index->ranks.limit = THREADS_MAX;
  index->process_of_pid = calloc((size_t)count + 1, sizeof index->process_of_pid[0]);
  index->trainer_of_rank = calloc((size_t)count + 1, sizeof index->trainer_of_rank[0]);
  if (!index->process_of_pid || !index->trainer_of_rank) return 0;
  for (uint32_t i = 1; i <= count; i++) {
    const traced_process *process = analysis_process(shared, i);
    int is_new;
    uint32_t number = numbering_of(&index->pids, process->host, process->pid, &is_new);
    if (!number) return 0;
    if (is_new || is_preferred(process, analysis_process(shared, index->process_of_pid[number]))) {
      index->process_of_pid[number] = i;
    }
    if (!is_trainer(process)) continue;
    number = numbering_of(&index->ranks, process->host, (uint64_t)process->rank, &is_new);
    if (!number) return 0;
    index->trainer_of_rank[number] = is_new ? i : 0;
  }
  return 1;
}

static traced_process *parent_of(const analysis *shared, const process_index *index, const traced_process *process) {
  uint32_t number = process->ppid ? numbering_find(&index->pids, process->host, process->ppid) : 0;
  return number ? analysis_process(shared, index->process_of_pid[number]) : NULL;
}

/* NULL: the process belongs to no trainer, or it is unclear to which. */
static traced_process *trainer_of(const analysis *shared, const process_index *index, traced_process *process) {
  traced_process *ancestor = process;
  uint32_t number;
  for (int i = 0; ancestor && i < ANCESTORS_MAX; i++) {
    if (is_trainer(ancestor)) return ancestor;
    ancestor = parent_of(shared, index, ancestor);
  }
  number = numbering_find(&index->ranks, process->host, (uint64_t)process->rank);
  return number && index->trainer_of_rank[number] ? analysis_process(shared, index->trainer_of_rank[number]) : NULL;
}

/* Lists each process that only loads with its trainer. */
static int assign_workers(analysis *shared) {
  process_index index = {0};
  int is_good = index_processes(&index, shared);
  for (uint32_t i = 1; is_good && i <= shared->process_numbers.count; i++) {
    traced_process *process = analysis_process(shared, i), *trainer;
    if (is_trainer(process) || spanset_is_empty(&process->data)) continue;
    trainer = trainer_of(shared, &index, process);
    if (!trainer) continue;
    process->next_worker = trainer->first_worker;
    trainer->first_worker = i;
    process->is_worker = 1;
  }
  numbering_free(&index.pids);
  numbering_free(&index.ranks);
  free(index.process_of_pid);
  free(index.trainer_of_rank);
  return is_good;
}

/* ---- Sums ----------------------------------------------------------------------------------------------------------- */

/* The times of a process, with the loading of its workers. */
static int add_times(const analysis *shared, traced_process *process, training_totals *sum) {
  spanset *compute = &process->compute, *fetch = &process->fetch, **loading;
  span_lengths of_fetch, of_loading;
  uint32_t count = 1;
  int is_good;
  for (uint32_t i = process->first_worker; i; i = analysis_process(shared, i)->next_worker) count++;
  loading = malloc(count * sizeof *loading);
  if (!loading) return 0;
  loading[0] = &process->data;
  count = 1;
  for (uint32_t i = process->first_worker; i; i = analysis_process(shared, i)->next_worker) {
    loading[count++] = &analysis_process(shared, i)->data;
  }
  is_good = spanset_measure(&fetch, 1, &compute, 1, &of_fetch) &&
            spanset_measure(loading, count, &compute, 1, &of_loading);
  free(loading);
  sum->compute_ns += of_fetch.two;
  sum->fetch_ns += of_fetch.one;
  sum->wait_ns += of_fetch.one - of_fetch.common;
  sum->data_ns += of_loading.one;
  sum->hidden_ns += of_loading.common;
  return is_good;
}

int training_sum(analysis *shared, const tally *counts, training_totals *sum) {
  uint64_t updates = 0;
  int is_good = assign_workers(shared);
  *sum = (training_totals){.epochs = counts->epoch_numbers.count};
  for (uint32_t i = 1; is_good && i <= shared->process_numbers.count; i++) {
    traced_process *process = analysis_process(shared, i);
    updates += process->updates;
    for (int kind = 0; kind < AI_KINDS; kind++) {
      sum->count[kind] += process->ai_count[kind];
      sum->ns[kind] += process->ai_ns[kind];
    }
    sum->processes += is_trainer(process);
    if (!process->is_worker) is_good = add_times(shared, process, sum);
  }
  sum->steps = sum->count[AI_STEP] ? sum->count[AI_STEP] : updates ? updates : sum->count[AI_FETCH];
  return is_good;
}
