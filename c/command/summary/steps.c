/* steps.c - the step that an event belongs to: its own, or that of the nearest event around it.
 *
 * Events come in the order of their ends, so what is around one comes later. Those without a step wait on their thread until
 * it comes. Memory is bounded: beyond LOOSE_ALL of them the oldest of a thread belong to no step, and when a step would
 * have held such ones, that is counted. SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "job.h"

#define LOOSE_ALL (1u << 20) /* of all threads together */
#define LOOSE_FIRST 64u

static void count(worker *by, uint32_t group, const loose_event *event) {
  group_stats *stats = worker_group(by, group);
  if (!stats) {
    by->is_good = 0;
    return;
  }
  job_add(&stats->total_ns, event->time_ns);
  stats->self_ns += event->self_ns;
  by->is_good &= histogram_add(&stats->durations, event->time_ns);
}

/* The first `much` belong to no step. */
static void give_up(worker *by, thread *on, uint32_t much) {
  for (uint32_t i = 0; i < much; i++) {
    count(by, by->of->no_step, &on->loose[i]);
    if (!on->has_given_up || on->loose[i].start > on->given_up) on->given_up = on->loose[i].start;
    on->has_given_up = 1;
  }
  on->loose_count -= much;
  if (on->loose_count) memmove(on->loose, on->loose + much, on->loose_count * sizeof *on->loose);
}

static int make_room(job *of, thread *on) {
  uint32_t more = on->loose_room ? on->loose_room : LOOSE_FIRST;
  loose_event *list = NULL;
  if (atomic_fetch_add(&of->loose_all, more) + more <= LOOSE_ALL)
    list = realloc(on->loose, (on->loose_room + more) * sizeof *list);
  if (!list) {
    atomic_fetch_sub(&of->loose_all, more);
    return 0;
  }
  on->loose = list;
  on->loose_room += more;
  return 1;
}

/* Those that lie in the event. They are in the order of ends: what ended before it began is not looked at. */
static void take_inside(worker *by, thread *on, const moment *event) {
  uint32_t from = on->loose_count;
  uint32_t kept;
  while (from && on->loose[from - 1].start + (int64_t)on->loose[from - 1].time_ns >= event->start) from--;
  kept = from;
  for (uint32_t i = from; i < on->loose_count; i++) {
    if (on->loose[i].start >= event->start) count(by, event->group, &on->loose[i]);
    else on->loose[kept++] = on->loose[i];
  }
  on->loose_count = kept;
}

void step_account(worker *by, thread *on, const site *what, const moment *event, int64_t self) {
  loose_event one = {event->start, (uint64_t)(event->end - event->start), (uint64_t)self};
  if (event->group != by->of->no_step) {
    take_inside(by, on, event);
    on->overrun += on->has_given_up && on->given_up >= event->start;
    if (what->is_wanted) count(by, event->group, &one);
  } else if (what->is_wanted) {
    if (on->loose_count == on->loose_room && !make_room(by->of, on)) give_up(by, on, (on->loose_count + 1) / 2);
    if (on->loose_count < on->loose_room) on->loose[on->loose_count++] = one;
    else count(by, by->of->no_step, &one); /* there is no room at all */
  }
}

void step_flush(worker *by, thread *on) {
  give_up(by, on, on->loose_count);
  atomic_fetch_sub(&by->of->loose_all, on->loose_room);
  free(on->loose);
  on->loose = NULL;
  on->loose_room = 0;
  on->has_given_up = 0;
}
