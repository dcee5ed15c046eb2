/* account.c - counts what depends on the order of events.
 * SPDX-License-Identifier: MIT */
#include "account.h"

#include <stdlib.h>

#define WINDOW_ALL (256u << 10) /* events that all threads of a source hold back together */
#define WINDOW_LEAST 512u

typedef struct account_context {
  analysis *shared;
  tally *counts;
} account_context;

static void account_call(tally *counts, process_counts *process, uint32_t file, enum io_kind kind, const moment *event,
                         int sequence) {
  counts->is_good &= io_stats_count(&process->io, kind, event, sequence);
  tally_add_io(counts, file, kind, event, sequence);
  if (event->result > 0 && kind == IO_READ) counts->is_good &= spanset_add(&process->reads, event->start, event->end);
  if (event->result > 0 && kind == IO_WRITE) counts->is_good &= spanset_add(&process->writes, event->start, event->end);
}

static void account_io(tally *counts, process_counts *process, traced_thread *thread, const event_class *class,
                       const moment *event) {
  int sequence = file_positions_sequence(&thread->positions, class->io, event);
  if (!class->is_wanted) return;
  if (is_failure(event)) tally_add_failure(counts, event);
  if (class->io == IO_COPY) {
    account_call(counts, process, event->file, IO_READ, event, sequence);
    account_call(counts, process, event->second_file, IO_WRITE, event, sequence);
  } else {
    account_call(counts, process, event->file, class->io, event, sequence);
  }
}

static void account_training(tally *counts, process_counts *process, const event_class *class, const moment *event) {
  spanset *busy = NULL;
  process->updates += class->is_update;
  process->ai_count[class->ai]++;
  process->ai_ns[class->ai] += (uint64_t)(event->end - event->start);
  if (class->ai == AI_COMPUTE) busy = &process->compute;
  if (class->ai == AI_FETCH || class->ai == AI_START) busy = &process->fetch;
  if (class->ai == AI_DATA) busy = &process->data;
  if (busy) counts->is_good &= spanset_add(busy, event->start, event->end);
  if (class->ai == AI_DATA || class->ai == AI_CHECKPOINT) return; /* also happens before and after a training loop */
  if (!process->loop_events || event->start < process->loop_first) process->loop_first = event->start;
  if (!process->loop_events || event->end > process->loop_last) process->loop_last = event->end;
  process->loop_events++;
}

/* One event, in the order of ends, with its self time. */
static void account_event(void *context, const moment *event, int64_t self) {
  const account_context *given = context;
  analysis *shared = given->shared;
  tally *counts = given->counts;
  traced_thread *thread = analysis_thread(shared, event->thread);
  process_counts *process = &analysis_process(shared, thread->process)->counts;
  const event_class *class = analysis_class(shared, event->class_number);
  if (class->io) thread->io_ns += (uint64_t)self;
  else thread->region_ns += (uint64_t)self;
  if (class->is_ours) return;
  process->events++;
  if (shared->question->by == BY_STEP) {
    step_backlog_add(&thread->backlog, &shared->steps, counts, event, self, class->is_wanted);
  } else if (event->group != NO_GROUP) {
    tally_add_self(counts, event->group, (uint64_t)self);
  }
  if (class->io) account_io(counts, process, thread, class, event);
  if (class->ai) account_training(counts, process, class, event);
}

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

/* Forgets everything that was counted. */
static void discard(analysis *shared, traced_source *source) {
  traced_thread *thread;
  for (uint32_t i = source->first_thread; i; i = thread->next_of_source) {
    thread = analysis_thread(shared, i);
    analysis_forget_thread(shared, thread);
    process_counts_clear(&analysis_process(shared, thread->process)->counts);
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
    step_backlog_flush(&thread->backlog, &shared->steps, context.counts);
    file_positions_free(&thread->positions);
    counts->is_good &= process_counts_settle(&process->counts);
  }
  if (source->is_disordered) {
    discard(shared, source);
  } else {
    tally_merge(counts, source->counts);
    free_counts(source);
  }
}
