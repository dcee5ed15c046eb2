/* livingcount.c - how many processes and threads the traces of one run are of.
 * SPDX-License-Identifier: MIT */
#include "livingcount.h"

#include <stdlib.h>

typedef struct trace_of_process {
  int64_t first, last;
  uint32_t process; /* its number in the state */
} trace_of_process;

typedef struct counting {
  trace_of_process *traces;
  uint32_t count;
  numbering pids;     /* of (host, pid) */
  uint32_t *living;   /* by number of a pid: the process that had it last, from 1 on */
  int64_t *last;      /* by number of a pid: the end of its traces so far */
  uint32_t *process;  /* by number in the state: the process that it is of */
  uint32_t processes; /* so far */
} counting;

static int by_time(const void *a, const void *b) {
  const trace_of_process *one = a, *two = b;
  if (one->first != two->first) return one->first < two->first ? -1 : 1;
  if (one->last != two->last) return one->last < two->last ? -1 : 1;
  return (one->process > two->process) - (one->process < two->process);
}

static void sort_traces(counting *all, const summary_state *state) {
  for (uint32_t i = 1; i <= state->process_count; i++) {
    const state_source *source = &state->sources[state->processes[i].source];
    if (state->processes[i].threads) all->traces[all->count++] = (trace_of_process){source->first, source->last, i};
  }
  qsort(all->traces, all->count, sizeof *all->traces, by_time);
}

static int count_processes(counting *all, const summary_state *state) {
  for (uint32_t i = 0; i < all->count; i++) {
    const trace_of_process *trace = &all->traces[i];
    const state_process *process = &state->processes[trace->process];
    int is_new;
    uint32_t number = numbering_of(&all->pids, process->host, process->pid, &is_new);
    if (!number) return 0;
    if (is_new || !state->run || trace->first < all->last[number]) all->living[number] = ++all->processes;
    if (is_new || trace->last > all->last[number]) all->last[number] = trace->last;
    all->process[trace->process] = all->living[number];
  }
  return 1;
}

static int count_threads(const counting *all, const summary_state *state, uint32_t *threads) {
  numbering tids = {.limit = UINT32_MAX - 1};
  int is_good = 1, is_new;
  for (uint32_t i = 0; is_good && i < state->thread_count; i++)
    is_good = numbering_of(&tids, all->process[state->threads[i].process], state->threads[i].tid, &is_new) != 0;
  *threads += tids.count;
  numbering_free(&tids);
  return is_good;
}

int living_count(const summary_state *state, uint32_t *processes, uint32_t *threads) {
  const size_t room = (size_t)state->process_count + 1;
  counting all = {.pids.limit = UINT32_MAX - 1,
                  .traces = calloc(room, sizeof *all.traces),
                  .living = calloc(room, sizeof *all.living),
                  .last = calloc(room, sizeof *all.last),
                  .process = calloc(room, sizeof *all.process)};
  int is_good = all.traces && all.living && all.last && all.process;
  if (is_good) {
    sort_traces(&all, state);
    is_good = count_processes(&all, state) && count_threads(&all, state, threads);
  }
  *processes += all.processes;
  numbering_free(&all.pids);
  free(all.traces);
  free(all.living);
  free(all.last);
  free(all.process);
  return is_good;
}
