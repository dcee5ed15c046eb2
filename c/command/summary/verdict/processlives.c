/* processlives.c - how long the processes of a job without ranks ran.
 * SPDX-License-Identifier: MIT */
#include "processlives.h"

#include <stdlib.h>

/* From the first event of a process to its last. The caller frees it. NULL: no memory. */
static time_span *find_spans(const job_costs *costs, const summary_state *state) {
  uint32_t *places = calloc((size_t)state->process_count + 1, sizeof *places); /* in the costs, + 1 */
  time_span *spans = calloc((size_t)costs->count + 1, sizeof *spans);
  for (uint32_t i = 0; places && spans && i < costs->count; i++) {
    places[costs->ranks[i].process] = i + 1;
    spans[i] = (time_span){INT64_MAX, INT64_MIN};
  }
  for (uint32_t i = 0; places && spans && i < state->thread_count; i++) {
    const state_thread *thread = &state->threads[i];
    time_span *span = places[thread->process] ? &spans[places[thread->process] - 1] : NULL;
    if (!span) continue;
    if (thread->first < span->start) span->start = thread->first;
    if (thread->last > span->end) span->end = thread->last;
  }
  if (places) free(places);
  else free(spans);
  return places ? spans : NULL;
}

int process_lives_measure(process_lives *lives, const job_costs *costs, const summary_state *state) {
  time_span *spans = find_spans(costs, state);
  int64_t end = INT64_MIN;
  double sum = 0;
  *lives = (process_lives){0};
  if (!spans) return 0;
  for (uint32_t i = 0; i < costs->count; i++) {
    const double length = spans[i].end > spans[i].start ? (double)time_between(spans[i].start, spans[i].end) : 0;
    sum += length;
    if (length <= lives->longest_ns) continue;
    lives->longest_ns = length;
    lives->longest = costs->ranks[i].process;
  }
  lives->others_ns = (sum - lives->longest_ns) / (costs->count - 1);
  qsort(spans, costs->count, sizeof *spans, time_span_order);
  for (uint32_t i = 0; i < costs->count; i++) {
    if (spans[i].start > end) end = spans[i].start;
    if (spans[i].end <= end) continue;
    lives->covered_ns += (double)time_between(end, spans[i].end);
    end = spans[i].end;
  }
  lives->is_known = 1;
  free(spans);
  return 1;
}
