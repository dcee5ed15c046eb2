/* lineorder.c - events of one source in the order of the file, however many threads read it.
 *
 * Whoever brings the unit whose turn it is accounts for it, and for all that wait behind it. Who is far ahead waits, so
 * memory is bounded; the one whose turn it is never does. SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "job.h"

#define WAITING_MAX 32u
#define WINDOW_ALL (256u << 10) /* events that all threads of a source hold back together */
#define WINDOW_LEAST 512u

struct parcel {
  parcel *next;
  uint64_t unit;
  int is_unit_end, is_source_end;
  uint32_t count;
  moment moments[];
};

static void count_call(worker *by, process *owner, uint32_t number, enum io_kind kind, const moment *event,
                       int sequence) {
  io_stats *file = worker_file(by, number);
  by->is_good &= io_count(&owner->io, kind, event);
  if (!file) {
    by->is_good = 0;
    return;
  }
  by->is_good &= io_count(file, kind, event);
  file->sequential += sequence == 1;
  owner->io.sequential += sequence == 1;
  file->random += sequence == 0;
  owner->io.random += sequence == 0;
}

static void account_io(worker *by, process *owner, thread *on, const site *what, const moment *event) {
  int sequence = io_sequence(on, what, event);
  if (!what->is_wanted) return;
  if (what->io != IO_COPY) {
    count_call(by, owner, event->file, what->io, event, sequence);
    return;
  }
  count_call(by, owner, event->file, IO_READ, event, sequence);
  count_call(by, owner, event->second_file, IO_WRITE, event, sequence);
}

static void account(void *context, const moment *event, int64_t self) {
  worker *by = context;
  job *of = by->of;
  thread *on = job_thread(of, event->thread);
  process *owner = job_process(of, on->process);
  const site *what = job_site(of, event->site);
  if (what->io) on->io_ns += (uint64_t)self;
  else on->region_ns += (uint64_t)self;
  if (of->question->by == BY_STEP) {
    if (!what->is_ours) step_account(by, on, what, event, self);
  } else if (event->group != NO_GROUP) {
    group_stats *stats = worker_group(by, event->group);
    if (stats) stats->self_ns += (uint64_t)self;
    else by->is_good = 0;
  }
  if (!what->is_ours) owner->events++;
  if (what->io) account_io(by, owner, on, what, event);
  if (!what->ai) return;
  owner->updates += what->is_update;
  owner->ai_count[what->ai]++;
  owner->ai_ns[what->ai] += (uint64_t)(event->end - event->start);
  if (what->ai == AI_COMPUTE) by->is_good &= work_add(&owner->compute, event->start, event->end);
  if (what->ai == AI_FETCH || what->ai == AI_START) by->is_good &= work_add(&owner->fetch, event->start, event->end);
  if (what->ai == AI_DATA) by->is_good &= work_add(&owner->data, event->start, event->end);
}

void lane_flush(worker *by, lane *of) {
  for (uint32_t i = 0; i < of->thread_count; i++) {
    thread *on = job_thread(by->of, of->threads[i]);
    by->is_good &= coverage_flush(&on->time, account, by);
    step_flush(by, on);
    free(on->positions);
    on->positions = NULL;
    on->position_count = 0;
  }
}

static void account_all(worker *by, uint32_t window, const moment *moments, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    by->is_good &= coverage_add(&job_thread(by->of, moments[i].thread)->time, &moments[i], window, account, by);
  }
}

static void wait_for_turn(worker *from, lane *on, const dft_rows *rows, uint32_t count) {
  parcel *mine = malloc(sizeof *mine + count * sizeof *mine->moments);
  parcel **link = &on->waiting;
  if (!mine) {
    from->is_good = 0;
    return;
  }
  mine->unit = rows->unit;
  mine->is_unit_end = rows->is_unit_end != 0;
  mine->is_source_end = rows->is_source_end != 0;
  mine->count = count;
  if (count) memcpy(mine->moments, from->moments, count * sizeof *mine->moments);
  while (*link && (*link)->unit <= mine->unit) link = &(*link)->next;
  mine->next = *link;
  *link = mine;
  on->waiting_count++;
}

static void step(worker *by, lane *on, const moment *moments, uint32_t count, int is_unit_end, int is_source_end) {
  uint32_t window = on->thread_count ? WINDOW_ALL / on->thread_count : WINDOW_ALL;
  if (window < WINDOW_LEAST) window = WINDOW_LEAST;
  pthread_mutex_unlock(&on->lock);
  account_all(by, window, moments, count);
  if (is_source_end) lane_flush(by, on);
  pthread_mutex_lock(&on->lock);
  if (is_unit_end) {
    on->next_unit++;
    pthread_cond_broadcast(&on->moved);
  }
}

void lane_bring(worker *from, const dft_rows *rows, uint32_t count) {
  lane *on = &from->of->lanes[rows->source];
  pthread_mutex_lock(&on->lock);
  while (on->waiting_count >= WAITING_MAX && rows->unit != on->next_unit) pthread_cond_wait(&on->moved, &on->lock);
  if (on->is_busy || rows->unit != on->next_unit || (on->waiting && on->waiting->unit == rows->unit)) {
    wait_for_turn(from, on, rows, count);
    if (on->is_busy) {
      pthread_mutex_unlock(&on->lock);
      return;
    }
    on->is_busy = 1;
  } else {
    on->is_busy = 1;
    step(from, on, from->moments, count, rows->is_unit_end != 0, rows->is_source_end != 0);
  }
  while (on->waiting && on->waiting->unit == on->next_unit) {
    parcel *mine = on->waiting;
    on->waiting = mine->next;
    on->waiting_count--;
    step(from, on, mine->moments, mine->count, mine->is_unit_end, mine->is_source_end);
    free(mine);
  }
  on->is_busy = 0;
  pthread_mutex_unlock(&on->lock);
}
