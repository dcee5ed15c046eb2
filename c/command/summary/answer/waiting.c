/* waiting.c - the time in which processes waited for others.
 * SPDX-License-Identifier: MIT */
#include "waiting.h"

#include <stdlib.h>

static int by_time(const void *a, const void *b) {
  const wait_span *one = a, *two = b;
  if (one->start != two->start) return one->start < two->start ? -1 : 1;
  if (one->until != two->until) return one->until < two->until ? -1 : 1;
  if (one->call != two->call) return one->call < two->call ? -1 : 1;
  if (one->cause != two->cause) return one->cause < two->cause ? -1 : 1;
  return (one->is_unsure > two->is_unsure) - (one->is_unsure < two->is_unsure);
}

int waiting_init(waiting *all, uint32_t processes) {
  *all = (waiting){.piles = calloc((size_t)processes + 1, sizeof *all->piles), .processes = processes};
  for (uint32_t i = 0; all->piles && i <= processes; i++)
    all->piles[i] = (record_pile){.record_bytes = sizeof(wait_span), .compare = by_time};
  return all->piles != NULL;
}

void waiting_free(waiting *all) {
  for (uint32_t i = 0; all->piles && i <= all->processes; i++) record_pile_free(&all->piles[i]);
  free(all->piles);
  *all = (waiting){0};
}

int waiting_add(waiting *all, uint32_t process, const wait_span *span) {
  return span->until <= span->start || record_pile_add(&all->piles[process], span);
}

/* The part of the span that comes after what was counted, which then includes it. */
static uint64_t rest_of(const wait_span *span, int64_t *counted) {
  int64_t start = span->start > *counted ? span->start : *counted;
  if (span->until <= start) return 0;
  *counted = span->until;
  return (uint64_t)(span->until - start);
}

/* How much of the rest, which is the end of the span, is after this time. */
static uint64_t part_after(const wait_span *span, uint64_t rest, int64_t time) {
  const uint64_t after = span->until > time ? (uint64_t)(span->until - time) : 0;
  return after < rest ? after : rest;
}

static void add_span(const wait_span *span, uint64_t rest, const loop_time *loop, wait_sums *own, wait_sums *all) {
  const uint64_t in_loop = part_after(span, rest, loop->first); /* or after it */
  const int is_message = span->call == NO_CALL;
  if (span->is_unsure) {
    own->unsure_ns += rest;
    return;
  }
  own->waited_ns += rest;
  own->loop_waited_ns += in_loop;
  if (is_message) own->late_ns += rest;
  if (is_message) own->loop_late_ns += in_loop;
  if (!span->cause) return;
  all[span->cause].caused_ns += rest;
  all[span->cause].loop_caused_ns += in_loop;
  all[span->cause].end_caused_ns += part_after(span, rest, loop->last);
  if (is_message) all[span->cause].late_caused_ns += rest;
}

int waiting_sum(waiting *all, const loop_time *loops, wait_sums *of_processes, uint64_t *of_calls,
                uint32_t call_count) {
  int64_t *counted = malloc(((size_t)call_count + 1) * sizeof *counted);
  int is_good = counted != NULL;
  for (uint32_t process = 1; is_good && process <= all->processes; process++) {
    int64_t all_counted = INT64_MIN;
    run_merge merge;
    const wait_span *span;
    for (uint32_t i = 0; i < call_count; i++) counted[i] = INT64_MIN;
    record_pile_read(&all->piles[process], &merge);
    while ((span = run_merge_next(&merge)) != NULL) {
      if (span->call != NO_CALL && !span->is_unsure) of_calls[span->call] += rest_of(span, &counted[span->call]);
      add_span(span, rest_of(span, &all_counted), &loops[process], &of_processes[process], of_processes);
    }
    is_good = merge.is_good;
    run_merge_free(&merge);
  }
  free(counted);
  return is_good;
}
