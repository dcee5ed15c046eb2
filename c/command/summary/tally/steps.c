/* steps.c - the step that an event belongs to.
 * SPDX-License-Identifier: MIT */
#include "steps.h"

#include <stdlib.h>
#include <string.h>

#define WAITING_MAX (1u << 20) /* in all backlogs together */
#define CAPACITY_FIRST 64u

static void count(tally *counts, uint32_t group, const waiting_event *event) {
  tally_add_duration(counts, group, event->time_ns);
  tally_add_self(counts, group, event->self_ns);
}

/* Counts the oldest events as belonging to no step. */
static void give_up(step_backlog *backlog, const step_pool *pool, tally *counts, uint32_t oldest) {
  for (uint32_t i = 0; i < oldest; i++) {
    int64_t start = backlog->events[i].start;
    count(counts, pool->no_step, &backlog->events[i]);
    if (!backlog->has_given_up || start > backlog->given_up) backlog->given_up = start;
    backlog->has_given_up = 1;
  }
  backlog->count -= oldest;
  if (backlog->count) memmove(backlog->events, backlog->events + oldest, backlog->count * sizeof *backlog->events);
}

static int enlarge(step_backlog *backlog, step_pool *pool) {
  uint32_t more = backlog->capacity ? backlog->capacity : CAPACITY_FIRST;
  waiting_event *events = NULL;
  if (atomic_fetch_add(&pool->reserved, more) + more <= WAITING_MAX)
    events = realloc(backlog->events, (backlog->capacity + more) * sizeof *events);
  if (!events) {
    atomic_fetch_sub(&pool->reserved, more);
    return 0;
  }
  backlog->events = events;
  backlog->capacity += more;
  return 1;
}

/* Counts the waiting events that lie inside this one. They are in the order of their ends: those that ended before it
 * began need not be looked at. */
static void count_inside(step_backlog *backlog, tally *counts, const moment *event) {
  waiting_event *events = backlog->events;
  uint32_t first = backlog->count;
  uint32_t kept;
  while (first && events[first - 1].start + (int64_t)events[first - 1].time_ns >= event->start) first--;
  kept = first;
  for (uint32_t i = first; i < backlog->count; i++) {
    if (events[i].start >= event->start) count(counts, event->group, &events[i]);
    else events[kept++] = events[i];
  }
  backlog->count = kept;
}

void step_backlog_add(step_backlog *backlog, step_pool *pool, tally *counts, const moment *event, int64_t self,
                      int is_wanted) {
  waiting_event entry = {event->start, (uint64_t)(event->end - event->start), (uint64_t)self};
  if (event->group != pool->no_step) {
    count_inside(backlog, counts, event);
    backlog->overrun += backlog->has_given_up && backlog->given_up >= event->start;
    if (is_wanted) count(counts, event->group, &entry);
  } else if (is_wanted) {
    if (backlog->count == backlog->capacity && !enlarge(backlog, pool)) {
      give_up(backlog, pool, counts, (backlog->count + 1) / 2);
    }
    if (backlog->count < backlog->capacity) backlog->events[backlog->count++] = entry;
    else count(counts, pool->no_step, &entry); /* the other threads use up the limit */
  }
}

void step_backlog_flush(step_backlog *backlog, step_pool *pool, tally *counts) {
  uint64_t overrun = backlog->overrun;
  give_up(backlog, pool, counts, backlog->count);
  step_backlog_free(backlog, pool);
  backlog->overrun = overrun;
}

void step_backlog_free(step_backlog *backlog, step_pool *pool) {
  atomic_fetch_sub(&pool->reserved, backlog->capacity);
  free(backlog->events);
  *backlog = (step_backlog){0};
}
