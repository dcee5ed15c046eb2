/* inputwait.c - what happens while a trainer waits for data.
 * SPDX-License-Identifier: MIT */
#include "inputwait.h"

#include <stdlib.h>

/* Here, metadata is with what sync has. */
#define WAIT_COSTS IO_COST_SYNC
static const enum grain_kind grain_of[WAIT_COSTS] = {
  [IO_COST_READ] = GRAIN_READ, [IO_COST_WRITE] = GRAIN_WRITE, [IO_COST_METADATA] = GRAIN_META};

/* A trainer, and those that load for it. */
typedef struct loaders {
  process_counts **counts; /* the trainer's first */
  uint32_t count;
} loaders;

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
  spanset *spans[WAIT_COSTS];
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
  call_times calls[WAIT_COSTS] = {0};
  int is_good = 1;
  for (int kind = 0; kind < WAIT_COSTS; kind++) {
    for (uint32_t i = 0; is_good && i < all->count; i++) {
      is_good = add_calls(&calls[kind], &all->counts[i]->grains[grain_of[kind]]);
    }
    is_good = is_good && coincide(waits, &calls[kind], 1, &rank->waited_with[kind]);
    *is_coarse |= calls[kind].busy < calls[kind].length;
  }
  is_good = is_good && coincide(waits, calls, WAIT_COSTS, &rank->waited_in_calls);
  for (int kind = 0; kind < WAIT_COSTS; kind++) spanset_free(&calls[kind].spans);
  return is_good;
}

/* How much of the waiting coincides with loading. */
static int measure_waits(rank_costs *rank, const loaders *all, spanset *waits) {
  spanset **loading = malloc(all->count * sizeof(spanset *));
  span_lengths lengths = {0, 0, 0};
  int is_good = loading != NULL;
  for (uint32_t i = 0; is_good && i < all->count; i++) loading[i] = &all->counts[i]->data;
  is_good = is_good && spanset_measure(&waits, 1, loading, all->count, &lengths);
  rank->waited_ns = (double)lengths.one;
  rank->waited_loading = (double)lengths.common;
  free(loading);
  return is_good;
}

/* The start and the end of loaders, and after a start the time until any worker loads: it is forked, or imports. */
static int find_starts(const loaders *all, spanset *starting) {
  spanset *starts = &all->counts[0]->starts, **loading = malloc(all->count * sizeof(spanset *));
  span_stream line, work;
  time_span start, next, loads = {0, 0};
  int is_good = loading != NULL, has_start, has_next, has_load;
  if (!is_good) return 0;
  for (uint32_t i = 0; i < all->count; i++) loading[i] = &all->counts[i]->data;
  is_good = span_stream_open(&line, &starts, 1) & span_stream_open(&work, loading, all->count);
  has_start = is_good && span_stream_next(&line, &start);
  has_load = is_good && span_stream_next(&work, &loads);
  for (; has_start; start = next, has_start = has_next) {
    has_next = span_stream_next(&line, &next);
    while (has_load && loads.end <= start.end) has_load = span_stream_next(&work, &loads);
    if (has_load && loads.start > start.end && (!has_next || loads.start <= next.start)) start.end = loads.start;
    is_good &= spanset_add(starting, start.start, start.end);
  }
  is_good = is_good && line.merge.is_good && work.merge.is_good;
  span_stream_close(&line);
  span_stream_close(&work);
  free(loading);
  return is_good;
}

static int measure_starts(rank_costs *rank, const loaders *all, spanset *waits) {
  spanset starting = {0}, *times = &starting;
  span_lengths lengths = {0, 0, 0};
  const int is_good = find_starts(all, &starting) && spanset_measure(&waits, 1, &times, 1, &lengths);
  spanset_free(&starting);
  rank->waited_starting = (double)lengths.common;
  return is_good;
}

static void add_loader(loaders *all, summary_state *state, uint32_t process) {
  all->counts[all->count++] = &state->processes[process].counts;
}

static int measure_rank(job_costs *costs, rank_costs *rank, summary_state *state, const uint32_t *trainers) {
  const size_t room = (size_t)state->process_count + 1;
  loaders all = {.counts = malloc(room * sizeof(process_counts *))};
  spanset all_waits = {0}, waits = {0};
  int is_good = all.counts != NULL;
  if (is_good) add_loader(&all, state, rank->process);
  for (uint32_t i = 1; is_good && i <= state->process_count; i++) {
    if (trainers[i] == rank->process && !spanset_is_empty(&state->processes[i].counts.data)) add_loader(&all, state, i);
  }
  is_good = is_good && spanset_add_rest(&all_waits, &all.counts[0]->fetch, &all.counts[0]->compute) &&
            spanset_add_rest(&waits, &all_waits, &all.counts[0]->evaluation) && measure_waits(rank, &all, &waits) &&
            measure_starts(rank, &all, &waits) && measure_calls(rank, &all, &waits, &costs->is_coarse);
  for (uint32_t i = 0; i < all.count; i++) costs->has_calls |= all.counts[i]->calls != 0;
  spanset_free(&all_waits);
  spanset_free(&waits);
  free(all.counts);
  return is_good;
}

int inputwait_measure(job_costs *costs, summary_state *state) {
  uint32_t *trainers = training_trainers(state);
  int is_good = trainers != NULL;
  for (uint32_t i = 0; is_good && i < costs->count; i++) {
    is_good = measure_rank(costs, &costs->ranks[i], state, trainers);
  }
  free(trainers);
  return is_good;
}
