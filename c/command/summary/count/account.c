/* account.c - counts what depends on the order of events.
 * SPDX-License-Identifier: MIT */
#include "account.h"

#include <stdlib.h>

#include "placing.h"
#include "splitting.h"

_Static_assert(CLASSES_MAX < 1u << PURSUIT_CLASS_BITS, "the number of each class fits into a pursuit");

#define WINDOW_ALL (256u << 10) /* events that all threads of a source hold back together */
#define WINDOW_LEAST 512u

typedef struct account_context {
  analysis *shared;
  tally *counts;
} account_context;

static void account_call(tally *counts, const traced_thread *thread, uint32_t file, enum io_kind kind,
                         const event_class *class, const moment *event, const io_place *place) {
  io_stats *stats = tally_file(counts, file, thread->process);
  if (!stats) return;
  counts->is_good &= io_stats_count(stats, kind, class, event, place);
  stats->uses = file != 0;
  if (kind == IO_WRITE) stats->write_uses = file != 0;
}

static void account_io(tally *counts, traced_thread *thread, const event_class *class, const moment *event,
                       const io_place *place) {
  if (!class->is_wanted) return;
  if (class->io == IO_COPY) {
    account_call(counts, thread, event->file, IO_READ, class, event, place);
    account_call(counts, thread, event->second_file, IO_WRITE, class, event, place);
  } else {
    account_call(counts, thread, event->file, class->io, class, event, place);
  }
}

static void account_training(tally *counts, process_counts *process, const event_class *class, const moment *event) {
  spanset *busy = NULL;
  process->updates += class->is_update;
  process->ai_count[class->ai]++;
  process->ai_ns[class->ai] += (uint64_t)(event->end - event->start);
  if (class->ai == AI_COMPUTE) busy = &process->compute;
  if (class->ai == AI_FETCH || class->ai == AI_START) busy = &process->fetch;
  if (class->ai == AI_DATA || class->ai == AI_EMPTY) busy = &process->data;
  if (busy) counts->is_good &= spanset_add(busy, event->start, event->end);
  if (class->ai == AI_START) counts->is_good &= spanset_add(&process->starts, event->start, event->end);
  if (!class->is_loop) return;
  if (!process->loop_events || event->start < process->loop_first) process->loop_first = event->start;
  if (!process->loop_events || event->end > process->loop_last) process->loop_last = event->end;
  process->loop_events++;
}

/* Of transfers, those that move nothing that is wanted have a class of their own. */
static inline uint32_t work_of(const event_class *class, const moment *event) {
  const uint32_t transfers = 1u << WORK_WRITE | 1u << WORK_COPY | 1u << WORK_READ;
  return class->work + (transfers >> class->work & 1 && !(class->is_wanted && event->result > 0));
}

static inline int account_span(traced_thread *thread, const moment *event, uint32_t work) {
  return work == WORK_NONE ? 1 : work_line_add(&thread->work, event->start, event->end, work);
}

/* A region that is new, that tells of the loop or an evaluation, or that is not wanted. */
__attribute__((noinline)) static int account_region(traced_thread *thread, traced_process *owner,
                                                    const event_class *class, const moment *event, int64_t self) {
  const uint64_t time_ns = (uint64_t)(event->end - event->start);
  return (!class->is_wanted ||
          region_stats_add(&owner->counts.regions, event->class_number, time_ns, (uint64_t)self)) &&
         process_frame_add_region(&owner->frame, &owner->counts, class, event) &&
         account_span(thread, event, class->work);
}

/* What the split of the time, the regions over ranks and the verdict need of an event. A function of its own, so that its cost is
 * known (tests/bench/verdict_cost.py). is_flush: io_place. */
__attribute__((noinline)) static int account_work(traced_thread *thread, traced_process *owner,
                                                  const event_class *class, const moment *event, int64_t self,
                                                  int is_flush) {
  region_total *region;
  if (class->is_call) return account_span(thread, event, is_flush ? WORK_SYNC : work_of(class, event));
  region = region_stats_known(&owner->counts.regions, event->class_number);
  if (!region || !class->is_wanted || !process_frame_ignores(&owner->counts, class))
    return account_region(thread, owner, class, event, self);
  region_total_add(region, (uint64_t)(event->end - event->start), (uint64_t)self);
  return account_span(thread, event, class->work);
}

/* One event, in the order of ends, with its self time. */
static void account_event(void *context, const moment *event, int64_t self) {
  const account_context *given = context;
  analysis *shared = given->shared;
  tally *counts = given->counts;
  traced_thread *thread = analysis_thread(shared, event->thread);
  traced_process *owner = analysis_process(shared, thread->process);
  process_counts *process = &owner->counts;
  const event_class *class = analysis_class(shared, event->class_number);
  io_place place = {0};
  if (class->io) thread->io_ns += (uint64_t)self;
  else if (class->is_process) thread->process_ns += (uint64_t)self;
  else thread->region_ns += (uint64_t)self;
  if (class->is_ours) return;
  counts->is_good &= pursuit_line_add(&thread->pursuit, event->start, event->end, event->class_number,
                                      event_class_communicates(class));
  process->events++;
  if (event->group != NO_GROUP) tally_add_self(counts, event->group, (uint64_t)self);
  if (class->is_call && class->is_wanted) {
    process->calls++;
    tally_add_call(counts, class, event);
  }
  if (class->io) counts->is_good &= file_positions_add(&thread->positions, class->io, event, &place);
  counts->is_good &= account_work(thread, owner, class, event, self, place.is_flush);
  if (class->io) account_io(counts, thread, class, event, &place);
  if (class->ai) account_training(counts, process, class, event);
  if (class->ai || event->epoch >= 0 || shared->question->by == BY_STEP)
    counts->is_good &= step_finder_add(&owner->times, event, self, class, shared->question->by == BY_STEP);
}

/* ---- Sources --------------------------------------------------------------------------------------------------------- */

/* The tally of the source. NULL: no memory. */
static tally *counts_of(traced_source *source, tally *counts) {
  if (!source->counts) {
    source->counts = malloc(sizeof *source->counts);
    if (source->counts) tally_init(source->counts);
    else counts->is_good = 0;
  }
  return source->counts;
}

static void free_counts(traced_source *source) {
  if (source->counts) tally_free(source->counts);
  free(source->counts);
  source->counts = NULL;
}

/* What a process did is the sum over its files. */
static void sum_files(analysis *shared, tally *counts) {
  for (uint32_t i = 1; i <= counts->file_numbers.count; i++) {
    traced_process *process = analysis_process(shared, (uint32_t)counts->file_numbers.keys[i].b);
    counts->is_good &= io_stats_merge(&process->counts.io, counts->files[i]);
  }
}

/* Forgets everything that was counted. */
static void discard(analysis *shared, traced_source *source) {
  traced_thread *thread;
  for (uint32_t i = source->first_thread; i; i = thread->next_of_source) {
    thread = analysis_thread(shared, i);
    analysis_forget_thread(thread);
    analysis_forget_process(analysis_process(shared, thread->process));
  }
  free_counts(source);
}

void account_events(analysis *shared, tally *counts, uint32_t number, const moment *events, uint32_t count) {
  traced_source *source = &shared->sources[number];
  account_context context = {shared, source->is_disordered ? NULL : counts_of(source, counts)};
  uint32_t threads = atomic_load(&source->thread_count);
  uint32_t window = threads ? WINDOW_ALL / threads : WINDOW_ALL;
  if (!context.counts) return;
  if (window < WINDOW_LEAST) window = WINDOW_LEAST;
  for (uint32_t i = 0; i < count; i++) {
    coverage *time = &analysis_thread(shared, events[i].thread)->time;
    context.counts->is_good &= coverage_add(time, &events[i], window, account_event, &context);
    source->is_disordered |= time->is_disordered;
  }
  counts->is_good &= context.counts->is_good;
}

void account_sorted(analysis *shared, tally *counts, uint32_t number, const moment *event) {
  account_context context = {shared, counts_of(&shared->sources[number], counts)};
  if (!context.counts) return;
  counts->is_good &= coverage_add_sorted(&analysis_thread(shared, event->thread)->time, event, account_event, &context);
}

/* Chains the threads of each process. */
static void chain_threads(const analysis *shared, const traced_source *source) {
  traced_thread *thread;
  for (uint32_t i = source->first_thread; i; i = thread->next_of_source) {
    traced_process *process;
    thread = analysis_thread(shared, i);
    process = analysis_process(shared, thread->process);
    thread->next_of_process = process->first_thread;
    process->first_thread = i;
  }
}

/* Of a process with several threads that communicate, it is not known which of them others wait for. */
static int take_pursuits(const analysis *shared, traced_process *process) {
  traced_thread *only = NULL;
  uint32_t count = 0;
  int is_good = 1;
  for (uint32_t i = process->first_thread; i; i = analysis_thread(shared, i)->next_of_process) {
    traced_thread *thread = analysis_thread(shared, i);
    if (!thread->pursuit.has_comm) continue;
    only = thread;
    count++;
  }
  if (count == 1) is_good = pursuits_take(&process->counts.pursuits, &only->pursuit);
  for (uint32_t i = process->first_thread; i; i = analysis_thread(shared, i)->next_of_process)
    pursuit_line_free(&analysis_thread(shared, i)->pursuit);
  return is_good;
}

/* What can be said of a process when all its events are known. */
static void account_processes(analysis *shared, const traced_source *source) {
  chain_threads(shared, source);
  for (uint32_t i = source->first_thread; i; i = analysis_thread(shared, i)->next_of_source) {
    traced_process *process = analysis_process(shared, analysis_thread(shared, i)->process);
    if (process->first_thread != i) continue;
    place_events(shared, source->counts, process);
    source->counts->is_good &= split_process(shared, source->counts, process) & take_pursuits(shared, process);
    step_finder_free(&process->times);
  }
}

void account_source_end(analysis *shared, tally *counts, uint32_t number) {
  traced_source *source = &shared->sources[number];
  account_context context = {shared, source->counts};
  traced_thread *thread;
  if (!context.counts) return;
  for (uint32_t i = source->first_thread; i; i = thread->next_of_source) {
    traced_process *process;
    thread = analysis_thread(shared, i);
    process = analysis_process(shared, thread->process);
    counts->is_good &= coverage_flush(&thread->time, account_event, &context);
    source->is_disordered |= thread->time.is_disordered;
    file_positions_free(&thread->positions);
    counts->is_good &= process_counts_settle(&process->counts);
  }
  if (!source->is_disordered) account_processes(shared, source);
  if (source->is_disordered) {
    discard(shared, source);
  } else {
    if (source->counts->is_good) sum_files(shared, source->counts);
    tally_merge(counts, source->counts);
    free_counts(source);
    trace_parts_end(&shared->parts, number);
  }
}
