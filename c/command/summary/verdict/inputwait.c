/* inputwait.c - what happens while a trainer waits for data.
 * SPDX-License-Identifier: MIT */
#include "inputwait.h"

#include <stdlib.h>

static const enum grain_kind grain_of[IO_COSTS] = {
  [IO_COST_READ] = GRAIN_READ, [IO_COST_WRITE] = GRAIN_WRITE, [IO_COST_METADATA] = GRAIN_META};

/* A trainer, and those that load for it. */
typedef struct loaders {
  process_counts **counts; /* the trainer's first */
  uint32_t count;
} loaders;

/* When it fetches and does not compute. */
static int find_waits(process_counts *trainer, spanset *waits) {
  spanset *fetch = &trainer->fetch, *compute = &trainer->compute;
  span_stream fetches, computes;
  time_span wait, work = {0, 0};
  int is_good = span_stream_open(&fetches, &fetch, 1) & span_stream_open(&computes, &compute, 1);
  int has_work = is_good && span_stream_next(&computes, &work);
  while (is_good && span_stream_next(&fetches, &wait)) {
    while (has_work && work.start < wait.end) {
      if (work.start > wait.start) is_good &= spanset_add(waits, wait.start, work.start);
      if (work.end > wait.start) wait.start = work.end;
      if (work.end > wait.end) break;
      has_work = span_stream_next(&computes, &work);
    }
    is_good &= spanset_add(waits, wait.start, wait.end);
  }
  is_good = is_good && fetches.merge.is_good && computes.merge.is_good;
  span_stream_close(&fetches);
  span_stream_close(&computes);
  return is_good;
}

/* Calls of one kind, of all who load. */
typedef struct call_times {
  spanset spans;
  double busy, length; /* in the spans: less than their length, if calls that were close together became one */
} call_times;

static int add_calls(call_times *calls, record_pile *grains) {
  run_merge merge;
  const io_grain *grain;
  int is_good = 1;
  record_pile_read(grains, &merge);
  while (is_good && (grain = run_merge_next(&merge)) != NULL) {
    is_good = spanset_add(&calls->spans, grain->start, grain->end);
    calls->busy += (double)grain->busy_ns;
    calls->length += (double)(grain->end - grain->start);
  }
  is_good &= merge.is_good;
  run_merge_free(&merge);
  return is_good;
}

/* How much of the waiting coincides with these calls. Where some became one, they are as dense as all are on average. */
static int coincide(spanset *waits, call_times *calls, uint32_t count, double *common) {
  spanset *spans[IO_COSTS];
  span_lengths lengths;
  double busy = 0, length = 0;
  for (uint32_t i = 0; i < count; i++) {
    spans[i] = &calls[i].spans;
    busy += calls[i].busy;
    length += calls[i].length;
  }
  *common = 0;
  if (length == 0) return 1; /* there are no calls */
  if (!spanset_measure(&waits, 1, spans, count, &lengths)) return 0;
  *common = (double)lengths.common * busy / length;
  return 1;
}

static int measure_calls(rank_costs *rank, const loaders *all, spanset *waits, int *is_coarse) {
  call_times calls[IO_COSTS] = {0};
  int is_good = 1;
  for (int kind = 0; kind < IO_COSTS; kind++) {
    for (uint32_t i = 0; is_good && i < all->count; i++) {
      is_good = add_calls(&calls[kind], &all->counts[i]->grains[grain_of[kind]]);
    }
    is_good = is_good && coincide(waits, &calls[kind], 1, &rank->waited_with[kind]);
    *is_coarse |= calls[kind].busy < calls[kind].length;
  }
  is_good = is_good && coincide(waits, calls, IO_COSTS, &rank->waited_in_calls);
  for (int kind = 0; kind < IO_COSTS; kind++) spanset_free(&calls[kind].spans);
  return is_good;
}

/* How much of the waiting coincides with loading, and how much the workers load in the loop. */
static int measure_loading(rank_costs *rank, const loaders *all, spanset *waits) {
  const process_counts *trainer = all->counts[0];
  spanset loop = {0}, *whole[] = {&loop}, *waited[] = {waits}, **loading;
  span_lengths lengths = {0, 0, 0};
  int is_good = spanset_add(&loop, trainer->loop_first, trainer->loop_last);
  loading = malloc(all->count * sizeof(spanset *));
  for (uint32_t i = 0; loading && i < all->count; i++) loading[i] = &all->counts[i]->data;
  is_good = is_good && loading && spanset_measure(waited, 1, loading, all->count, &lengths);
  rank->waited_ns = (double)lengths.one;
  rank->waited_loading = (double)lengths.common;
  for (uint32_t i = 1; is_good && i < all->count; i++) {
    is_good = spanset_measure(&loading[i], 1, whole, 1, &lengths);
    rank->loaded_ns += (double)lengths.common;
  }
  free(loading);
  spanset_free(&loop);
  return is_good;
}

static int measure_rank(rank_costs *rank, summary_state *state, const uint32_t *trainers, int *is_coarse) {
  loaders all = {.counts = malloc(((size_t)state->process_count + 1) * sizeof(process_counts *))};
  spanset waits = {0};
  int is_good = all.counts != NULL;
  if (!is_good) return 0;
  all.counts[all.count++] = &state->processes[rank->process].counts;
  for (uint32_t i = 1; i <= state->process_count; i++) {
    if (trainers[i] != rank->process || spanset_is_empty(&state->processes[i].counts.data)) continue;
    all.counts[all.count++] = &state->processes[i].counts;
  }
  rank->workers = all.count - 1;
  is_good = find_waits(all.counts[0], &waits) && measure_loading(rank, &all, &waits) &&
            measure_calls(rank, &all, &waits, is_coarse);
  spanset_free(&waits);
  free(all.counts);
  return is_good;
}

int inputwait_measure(job_costs *costs, summary_state *state) {
  uint32_t *trainers = training_trainers(state);
  int is_good = trainers != NULL;
  for (uint32_t i = 0; is_good && i < costs->count; i++) {
    is_good = measure_rank(&costs->ranks[i], state, trainers, &costs->is_coarse);
  }
  free(trainers);
  return is_good;
}
