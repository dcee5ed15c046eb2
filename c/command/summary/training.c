/* training.c - how a training went.
 *
 * A process that computes or fetches is a trainer. One that does neither, such as a worker of a DataLoader, works for the
 * nearest of its ancestors that is one, or else, as one that a fork server has made, for the only one of its host and
 * rank: what it loads, it loads for that one's compute. SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "answer.h"

#define ANCESTORS_MAX 64 /* pids are used again: there may be circles */

static int is_trainer(const process *of) {
  return of->ai_count[AI_COMPUTE] || of->ai_count[AI_FETCH];
}

/* ---- Families ------------------------------------------------------------------------------------------------------- */

typedef struct family {
  numbering pids;    /* processes by host and pid */
  uint32_t *list;    /* by number: the process */
  numbering ranks;   /* trainers by host and rank */
  uint32_t *trainer; /* by number: the process; 0 for several */
} family;

/* Of several traces with the same pid the trainer's, then the first one. */
static int is_preferred(const process *one, const process *two) {
  if (is_trainer(one) != is_trainer(two)) return is_trainer(one);
  return one->source < two->source;
}

static int gather(job *of, family *into) {
  const size_t room = (size_t)of->process_numbers.count + 1;
  into->pids.limit = into->ranks.limit = THREADS_MAX;
  into->list = calloc(room, sizeof into->list[0]);
  into->trainer = calloc(room, sizeof into->trainer[0]);
  if (!into->list || !into->trainer) return 0;
  for (uint32_t i = 1; i < room; i++) {
    const process *one = job_process(of, i);
    int is_new;
    uint32_t number = numbering_of(&into->pids, one->host, one->pid, &is_new);
    if (!number) return 0;
    if (is_new || is_preferred(one, job_process(of, into->list[number]))) into->list[number] = i;
    if (!is_trainer(one)) continue;
    number = numbering_of(&into->ranks, one->host, (uint64_t)one->rank, &is_new);
    if (!number) return 0;
    into->trainer[number] = is_new ? i : 0;
  }
  return 1;
}

static process *parent_of(job *in, const family *all, const process *of) {
  uint32_t number = of->ppid ? numbering_find(&all->pids, of->host, of->ppid) : 0;
  return number ? job_process(in, all->list[number]) : NULL;
}

static process *trainer_of(job *in, const family *all, process *of) {
  process *at = of;
  uint32_t number;
  for (int i = 0; at && i < ANCESTORS_MAX; i++) {
    if (is_trainer(at)) return at;
    at = parent_of(in, all, at);
  }
  number = numbering_find(&all->ranks, of->host, (uint64_t)of->rank);
  return number && all->trainer[number] ? job_process(in, all->trainer[number]) : NULL;
}

int training_join(job *of) {
  family all = {0};
  int is_good = gather(of, &all);
  for (uint32_t i = 1; is_good && i <= of->process_numbers.count; i++) {
    process *one = job_process(of, i), *trainer;
    if (is_trainer(one) || !one->data.count || !(trainer = trainer_of(of, &all, one))) continue;
    for (uint32_t k = 0; is_good && k < one->data.count; k++)
      is_good = work_add(&trainer->data, one->data.spans[k].start, one->data.spans[k].end);
    trainer->data.closed_ns += one->data.closed_ns;
    work_free(&one->data);
    one->data = (work){0};
  }
  numbering_free(&all.pids);
  numbering_free(&all.ranks);
  free(all.list);
  free(all.trainer);
  return is_good;
}

/* ---- Answers -------------------------------------------------------------------------------------------------------- */

int answer_train(job *of, answer_training *all) {
  uint64_t updates = 0;
  memset(all, 0, sizeof *all);
  for (uint32_t i = 1; i <= of->process_numbers.count; i++) {
    process *one = job_process(of, i);
    updates += one->updates;
    for (int kind = 0; kind < AI_KINDS; kind++) {
      all->count[kind] += one->ai_count[kind];
      all->ns[kind] += one->ai_ns[kind];
    }
    all->processes += is_trainer(one);
    all->compute_ns += work_time(&one->compute);
    all->fetch_ns += work_time(&one->fetch);
    all->data_ns += work_time(&one->data);
    all->wait_ns += work_time(&one->fetch) - work_shared(&one->fetch, &one->compute);
    all->hidden_ns += work_shared(&one->data, &one->compute);
    all->closed_ns += one->compute.closed_ns + one->fetch.closed_ns + one->data.closed_ns;
  }
  all->epochs = of->all.epochs.count;
  all->steps = all->count[AI_STEP] ? all->count[AI_STEP] : updates ? updates : all->count[AI_FETCH];
  return all->count[AI_COMPUTE] || all->count[AI_FETCH];
}

static int by_epoch(const void *a, const void *b) {
  const answer_epoch *one = a, *two = b;
  return (one->epoch > two->epoch) - (one->epoch < two->epoch);
}

answer_epoch *answer_epochs(const job *of, uint32_t *count) {
  answer_epoch *list = calloc(of->all.epochs.count + 1, sizeof *list);
  *count = list ? of->all.epochs.count : 0;
  for (uint32_t i = 0; i < *count; i++)
    list[i] = (answer_epoch){(int64_t)of->all.epochs.keys[i + 1].a, &of->all.epoch_list[i + 1]};
  if (list) qsort(list, *count, sizeof *list, by_epoch);
  return list;
}
