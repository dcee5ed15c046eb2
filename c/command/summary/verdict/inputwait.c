/* inputwait.c - what happens while a trainer waits for data.
 * SPDX-License-Identifier: MIT */
#include "inputwait.h"

#include <stdlib.h>

#include "command/summary/tally/iograins.h"

/* Here, metadata is with what sync has. */
#define WAIT_COSTS IO_COST_SYNC
static const enum grain_kind grain_of[WAIT_COSTS] = {
  [IO_COST_READ] = GRAIN_READ, [IO_COST_WRITE] = GRAIN_WRITE, [IO_COST_METADATA] = GRAIN_META};

/* A trainer, and those that load for it. */
typedef struct loaders {
  process_counts **counts; /* the trainer's first */
  uint32_t count;
} loaders;

/* Calls of one kind, or of all kinds, of all who load. */
typedef struct call_times {
  record_pile **grains;
  uint32_t count;
  uint64_t busy_ns, length_ns; /* in the grains: less than their length, if calls that were close together became one */
} call_times;

static int add_calls(call_times *calls, record_pile *grains) {
  run_merge merge;
  const io_grain *grain;
  int is_good;
  if (record_pile_is_empty(grains)) return 1;
  calls->grains[calls->count++] = grains;
  record_pile_read(grains, &merge);
  while ((grain = run_merge_next(&merge)) != NULL) {
    calls->busy_ns += grain->busy_ns;
    calls->length_ns += (uint64_t)(grain->end - grain->start);
  }
  is_good = merge.is_good;
  run_merge_free(&merge);
  return is_good;
}

/* How much of the waiting coincides with these calls. Where some became one, they are as dense as all are on average. */
static int coincide(spanset *waits, const call_times *calls, double *common) {
  span_stream waited, called;
  span_lengths lengths = {0, 0, 0};
  int is_good;
  *common = 0;
  if (!calls->length_ns) return 1; /* there are no calls */
  is_good = span_stream_open(&waited, &waits, 1) & io_grains_stream(&called, calls->grains, calls->count);
  is_good = is_good && span_streams_measure(&waited, &called, &lengths);
  span_stream_close(&waited);
  span_stream_close(&called);
  *common = (double)lengths.common * (double)calls->busy_ns / (double)calls->length_ns;
  return is_good;
}

static int measure_calls(rank_costs *rank, const loaders *all, spanset *waits, int *is_coarse) {
  call_times every = {.grains = malloc(WAIT_COSTS * all->count * sizeof(record_pile *))}; /* one kind after the other */
  int is_good = every.grains != NULL, kinds = 0;
  for (int kind = 0; kind < WAIT_COSTS && is_good; kind++) {
    call_times calls = {.grains = every.grains + every.count};
    for (uint32_t i = 0; is_good && i < all->count; i++)
      is_good = add_calls(&calls, &all->counts[i]->grains[grain_of[kind]]);
    is_good = is_good && coincide(waits, &calls, &rank->waited_with[kind]);
    *is_coarse |= calls.busy_ns < calls.length_ns;
    if (calls.count) rank->waited_in_calls = rank->waited_with[kind];
    kinds += calls.count != 0;
    every.count += calls.count;
    every.busy_ns += calls.busy_ns;
    every.length_ns += calls.length_ns;
  }
  if (kinds > 1) is_good = is_good && coincide(waits, &every, &rank->waited_in_calls);
  free(every.grains);
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
  int is_good;
  if (spanset_is_empty(&all->counts[0]->starts)) return 1;
  is_good = find_starts(all, &starting) && spanset_measure(&waits, 1, &times, 1, &lengths);
  spanset_free(&starting);
  rank->waited_starting = (double)lengths.common;
  return is_good;
}

static void add_loader(loaders *all, summary_state *state, uint32_t process) {
  all->counts[all->count++] = &state->processes[process].counts;
}

/* When it fetches and does not compute, in no evaluation. */
static int find_waits(process_counts *trainer, spanset *waits) {
  spanset all_waits = {0};
  int is_good;
  if (spanset_is_empty(&trainer->evaluation)) return spanset_add_rest(waits, &trainer->fetch, &trainer->compute);
  is_good = spanset_add_rest(&all_waits, &trainer->fetch, &trainer->compute) &&
            spanset_add_rest(waits, &all_waits, &trainer->evaluation);
  spanset_free(&all_waits);
  return is_good;
}

static int measure_rank(job_costs *costs, rank_costs *rank, summary_state *state, const worker_lists *workers) {
  const size_t room = (size_t)worker_lists_count(workers, rank->process) + 1;
  loaders all = {.counts = malloc(room * sizeof(process_counts *))};
  spanset waits = {0};
  int is_good = all.counts != NULL;
  if (is_good) add_loader(&all, state, rank->process);
  for (uint32_t i = workers->first[rank->process]; is_good && i; i = workers->next[i]) add_loader(&all, state, i);
  is_good = is_good && find_waits(all.counts[0], &waits) && measure_waits(rank, &all, &waits) &&
            measure_starts(rank, &all, &waits) && measure_calls(rank, &all, &waits, &costs->is_coarse);
  if (all.count == 1 && spanset_is_empty(&all.counts[0]->data) && rank->waited_in_calls > 0)
    rank->waited_loading = rank->waited_ns; /* the trainer reads within its fetches: it loads all of the time */
  for (uint32_t i = 0; i < all.count; i++) costs->has_calls |= io_stats_calls(&all.counts[i]->io) != 0;
  spanset_free(&waits);
  free(all.counts);
  return is_good;
}

int inputwait_measure(job_costs *costs, summary_state *state) {
  worker_lists workers;
  int is_good = worker_lists_init(&workers, state);
  for (uint32_t i = 0; is_good && i < costs->count; i++) {
    is_good = measure_rank(costs, &costs->ranks[i], state, &workers);
  }
  worker_lists_free(&workers);
  return is_good;
}
