/* splitting.c - splits the time of a process when all its events are known.
 * SPDX-License-Identifier: MIT */
#include "splitting.h"

#include <stdlib.h>

#include "command/summary/tally/iograins.h"

/* What is made of the lines of a process. */
typedef struct split_context {
  time_splitter splitter;
  grain_maker makers[GRAIN_KINDS];
  span_stack moving[CALL_KINDS - CALLS_MOVING]; /* times of transfers */
} split_context;

static void add_state(void *context, int64_t start, int64_t end, enum time_class class, int is_aside) {
  split_context *made = context;
  time_splitter_add(&made->splitter, start, end, class, is_aside);
}

/* When bytes moved is a table of its own, which the same pass serves. Both functions are apart, so that their cost is known
 * (tests/bench/verdict_cost.py), and those who only call on need no room on the machine's stack. */
__attribute__((noinline)) static int add_moving(span_stack *moving, int64_t start, int64_t end) {
  return span_stack_push(moving, start, end);
}

static int add_calls(void *context, enum call_kind kind, int64_t start, int64_t end) {
  split_context *made = context;
  if (kind >= CALLS_MOVING) return add_moving(&made->moving[kind - CALLS_MOVING], start, end);
  return grain_maker_add(&made->makers[kind], start, end);
}

/* In the order of time. */
__attribute__((noinline)) static int move_spans(spanset *into, span_stack *from) {
  const stacked_span *span;
  int is_good;
  while ((is_good = span_stack_top(from, &span)) && span && (is_good = spanset_add(into, span->start, span->end)))
    span_stack_pop(from);
  span_stack_free(from);
  return is_good && spanset_settle(into);
}

static int split_threads(const analysis *shared, const traced_process *process, split_context *made) {
  const work_listener listener = {add_state, add_calls, made};
  const int is_trainer = process_is_training(&process->counts) && process->counts.ai_count[AI_COMPUTE];
  uint32_t count = 0;
  work_line **lines = calloc((size_t)process->threads + 1, sizeof(work_line *));
  int is_good = lines != NULL;
  for (uint32_t i = process->first_thread; lines && i && count < process->threads;) {
    traced_thread *thread = analysis_thread(shared, i);
    thread->work.is_main = thread->tid == process->pid;
    lines[count++] = &thread->work;
    i = thread->next_of_process;
  }
  is_good = is_good && work_lines_split(lines, count, is_trainer, &listener);
  free(lines);
  return is_good;
}

/* Of the time that was asked for: what sticks out of its end does not count. */
static void find_life(const analysis *shared, const traced_process *process, int64_t *first, int64_t *last) {
  const summary_question *question = shared->question;
  const int64_t to = question->has_to ? shared->origins[process->source] + question->to_ns : INT64_MAX;
  *first = INT64_MAX;
  *last = INT64_MIN;
  for (uint32_t i = process->first_thread; i; i = analysis_thread(shared, i)->next_of_process) {
    const coverage *time = &analysis_thread(shared, i)->time;
    if (time->first < *first) *first = time->first;
    if (time->last > *last) *last = time->last;
  }
  if (*last > to) *last = to;
}

int split_process(analysis *shared, tally *counts, traced_process *process) {
  const int is_training = process_is_training(&process->counts);
  const int has_epochs = process_is_trainer(&process->counts);
  split_context made = {0};
  int64_t first, last;
  int is_good;
  find_life(shared, process, &first, &last);
  if (!is_training) process_frame_find_loop(&process->frame, &process->counts, first, last);
  process_frame_tell_ends(&process->frame, &process->counts);
  is_good = process_frame_make_windows(&process->frame, &process->counts, &process->times, has_epochs);
  time_splitter_begin(&made.splitter, &process->counts, has_epochs ? counts : NULL, first, last,
                      process->frame.windows);
  is_good = is_good && split_threads(shared, process, &made);
  is_good = time_splitter_end(&made.splitter) && is_good;
  is_good &= move_spans(&process->counts.reads, &made.moving[CALLS_MOVING_READ - CALLS_MOVING]) &
             move_spans(&process->counts.writes, &made.moving[CALLS_MOVING_WRITE - CALLS_MOVING]);
  for (int kind = 0; kind < GRAIN_KINDS; kind++)
    is_good &= grain_maker_end(&made.makers[kind], &process->counts.grains[kind]);
  for (uint32_t i = process->first_thread; i; i = analysis_thread(shared, i)->next_of_process)
    work_line_free(&analysis_thread(shared, i)->work);
  process_frame_free(&process->frame);
  return is_good;
}
