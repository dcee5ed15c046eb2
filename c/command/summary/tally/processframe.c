/* processframe.c - what the split of a process's time needs until all its events are known.
 * SPDX-License-Identifier: MIT */
#include "processframe.h"

#define TURNS_FEW 9

/* ---- Regions -------------------------------------------------------------------------------------------------------- */

static enum hull_kind kind_of(const event_class *class) {
  if (class->work >= WORK_COMPUTE || class->work == WORK_FETCH) return HULL_WORK;
  return class->work == WORK_COMM ? HULL_COMM : HULL_IO;
}

/* An event that tells of a phase. */
static int add_stage(process_frame *frame, process_counts *counts, const event_class *class, const moment *event) {
  switch (class->stage) {
    case STAGE_EVALUATION: return spanset_add(&counts->evaluation, event->start, event->end);
    case STAGE_STARTUP:
      if (!frame->startups++ || event->end > frame->startup_last) frame->startup_last = event->end;
      return region_hulls_add(&frame->hulls, event->class_number, HULL_STARTUP, event->start, event->end);
    default:
      if (frame->finals++ && event->end <= frame->final_last) return 1;
      frame->final_first = event->start;
      frame->final_last = event->end;
      return 1;
  }
}

int process_frame_add_region(process_frame *frame, process_counts *counts, const event_class *class,
                             const moment *event) {
  if (class->stage) return add_stage(frame, counts, class, event);
  return process_frame_ignores(counts, class) ||
         region_hulls_add(&frame->hulls, event->class_number, kind_of(class), event->start, event->end);
}

void process_frame_find_loop(process_frame *frame, process_counts *counts, int64_t first, int64_t last) {
  const int64_t begin = frame->startups ? frame->startup_last : first;
  int64_t turn;
  if (region_hulls_loop(&frame->hulls, &counts->loop_first, &counts->loop_last, &turn)) {
    /* What comes before, and is not longer than a turn of the loop, is part of its first turn. If it is longer than a loop of
     * few turns, it is the work, and what recurs is an afterthought, unless a region says that it is start-up. */
    const int64_t before = counts->loop_first - begin, loop = counts->loop_last - counts->loop_first;
    const int is_work = !frame->startups && before > loop && loop / TURNS_FEW < turn;
    if (before > 0 && (before <= turn + turn / 4 || is_work)) counts->loop_first = begin;
    return;
  }
  counts->loop_first = begin;
  counts->loop_last = last;
}

void process_frame_tell_ends(const process_frame *frame, process_counts *counts) {
  phase_region *start = &counts->start_region, *end = &counts->end_region;
  start->ns = region_hulls_most(&frame->hulls, INT64_MIN, counts->loop_first, &start->name);
  end->ns = region_hulls_most(&frame->hulls, counts->loop_last, INT64_MAX, &end->name);
  counts->finals = frame->finals;
  counts->final_first = frame->final_first;
  counts->final_last = frame->final_last;
}

/* ---- Steps and epochs ----------------------------------------------------------------------------------------------- */

/* As they ended. */
static int by_end(const void *a, const void *b) {
  const split_window *one = a, *two = b;
  if (one->end != two->end) return one->end < two->end ? -1 : 1;
  if (one->start != two->start) return one->start < two->start ? -1 : 1;
  if (one->epoch != two->epoch) return one->epoch < two->epoch ? -1 : 1;
  return (one->step > two->step) - (one->step < two->step);
}

int process_frame_add_step(process_frame *frame, const event_place *place) {
  const int64_t step = place->has_step ? place->step : NO_NUMBER; /* whatever --by says */
  frame->steps.record_bytes = sizeof(split_window);
  frame->steps.compare = by_end;
  return record_pile_add(&frame->steps, &(split_window){place->start, place->end, place->epoch, step});
}

/* Makes the windows of steps and of epochs, from the first to the last. */
typedef struct window_maker {
  process_frame *frame;
  run_merge steps;
  const split_window *step; /* that comes next */
  int64_t begin;            /* of that: the end of the one before it */
  split_window epoch;       /* the last one that began, as long as it lasts without a break */
  int is_epoch_event;       /* an event tells when it was; otherwise only that something happened in it */
} window_maker;

/* The steps that end until then: no epoch that begins later is theirs. A step lasts from the end of the one before it, or from the
 * beginning of its epoch, to its own end. */
static int add_steps(window_maker *maker, int64_t until) {
  const split_window *step;
  for (; (step = maker->step) != NULL && step->end <= until; maker->step = run_merge_next(&maker->steps)) {
    split_window window = {maker->begin, step->end, step->epoch, step->step};
    if (maker->is_epoch_event && maker->epoch.epoch == step->epoch && maker->epoch.start > window.start)
      window.start = maker->epoch.start;
    maker->begin = step->end;
    if (!split_window_add(&maker->frame->windows[WINDOW_STEP], &window)) return 0;
  }
  return maker->steps.is_good;
}

static int add_epoch(void *context, int64_t start, int64_t end, int64_t number, int is_event) {
  window_maker *maker = context;
  const split_window window = {start, end, number, NO_NUMBER};
  if (number == NO_NUMBER) return 1;
  if (!add_steps(maker, start)) return 0;
  if (number == maker->epoch.epoch && is_event == maker->is_epoch_event && start == maker->epoch.end) {
    maker->epoch.end = end;
  } else {
    maker->epoch = window;
    maker->is_epoch_event = is_event;
  }
  return split_window_add(&maker->frame->windows[WINDOW_EPOCH], &window);
}

static int make_windows(process_frame *frame, enum window_kind kind, spanset *set) {
  span_stream stream;
  time_span span;
  int is_good = span_stream_open(&stream, &set, 1);
  while (is_good && span_stream_next(&stream, &span))
    is_good = split_window_add(&frame->windows[kind], &(split_window){.start = span.start, .end = span.end});
  is_good = is_good && stream.merge.is_good;
  span_stream_close(&stream);
  return is_good;
}

int process_frame_make_windows(process_frame *frame, process_counts *counts, step_finder *times, int has_epochs) {
  window_maker maker = {.frame = frame, .begin = counts->loop_first, .epoch = {.epoch = NO_NUMBER}};
  int is_good = make_windows(frame, WINDOW_EVALUATION, &counts->evaluation) &&
                make_windows(frame, WINDOW_PAUSE, &counts->pauses);
  record_pile_read(&frame->steps, &maker.steps);
  maker.step = run_merge_next(&maker.steps);
  is_good = is_good && (!has_epochs || step_finder_epochs(times, add_epoch, &maker)) && add_steps(&maker, INT64_MAX);
  run_merge_free(&maker.steps);
  return is_good;
}

void process_frame_free(process_frame *frame) {
  region_hulls_free(&frame->hulls);
  record_pile_free(&frame->steps);
  for (int i = 0; i < WINDOW_KINDS; i++) span_stack_free(&frame->windows[i]);
  *frame = (process_frame){0};
}
