/* steps.h - the step that an event belongs to: its own, or that of the nearest event around it.
 *
 * Events come in the order of their ends, so an event comes before those around it. Events without a step wait on their
 * thread until an event with a step contains them. Memory is bounded: when the limit of all threads is reached, the oldest
 * waiting events of a thread are counted as belonging to no step. `overrun` counts the steps that may miss such events.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_STEPS_H
#define DFTRACER_STEPS_H

#include <stdatomic.h>

#include "tally.h"

typedef struct waiting_event {
  int64_t start;
  uint64_t time_ns, self_ns;
} waiting_event;

/* The waiting events of one thread. */
typedef struct step_backlog {
  waiting_event *events; /* in the order of their ends */
  uint32_t count, capacity;
  int64_t given_up; /* the latest start of those that were given up */
  int has_given_up;
  uint64_t overrun;
} step_backlog;

/* Shared by all threads. */
typedef struct step_pool {
  uint32_t no_step;          /* the group of events that belong to no step */
  _Atomic uint64_t reserved; /* waiting events that all backlogs have room for */
} step_pool;

/* Counts an event, and the waiting events that it contains, in its group; or makes it wait when that is no_step.
 * is_wanted: the event itself is counted. */
void step_backlog_add(step_backlog *backlog, step_pool *pool, tally *counts, const moment *event, int64_t self,
                      int is_wanted);
/* Counts the events that still wait as belonging to no step, and frees the backlog. */
void step_backlog_flush(step_backlog *backlog, step_pool *pool, tally *counts);

/* Forgets the events that still wait. */
void step_backlog_free(step_backlog *backlog, step_pool *pool);

#endif
