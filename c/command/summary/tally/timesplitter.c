/* timesplitter.c - adds up the time of a process.
 * SPDX-License-Identifier: MIT */
#include "timesplitter.h"

#include <stdlib.h>

#include "command/trace/spill.h"

/* ---- Windows -------------------------------------------------------------------------------------------------------- */

/* A window is two entries of the stack. */
int split_window_add(span_stack *stack, const split_window *window) {
  return span_stack_push(stack, window->epoch, window->step) && span_stack_push(stack, window->start, window->end);
}

static int take(span_stack *stack, stacked_span *entry) {
  const stacked_span *top;
  if (!span_stack_top(stack, &top) || !top) return 0;
  *entry = *top;
  span_stack_pop(stack);
  return 1;
}

/* If the spill cannot be read, spill_error() says so in the end. */
static void next_window(window_cursor *cursor) {
  stacked_span time, numbers;
  cursor->index = span_stack_size(cursor->stack) / 2;
  if (!take(cursor->stack, &time) || !take(cursor->stack, &numbers)) cursor->index = 0;
  else cursor->window = (split_window){time.start, time.end, numbers.start, numbers.end};
}

/* Of the epoch with this number, which may be unknown; NULL: the process has no epochs. Whether any trainer has an event in it is
 * known when all traces are: state_drop_silent_epochs. */
static epoch_stats *epoch_of(time_splitter *splitter, int64_t number) {
  tally *sums = splitter->sums;
  known_epoch *known = &splitter->epochs[number == NO_NUMBER];
  epoch_stats *stats;
  if (!sums) return NULL;
  if (known->place && known->number == number) return &sums->epochs[known->place];
  stats = tally_epoch(sums, number);
  if (stats) *known = (known_epoch){number, (uint32_t)(stats - sums->epochs)};
  return stats;
}

/* ---- Steps ---------------------------------------------------------------------------------------------------------- */

/* The step at hand is over; the cursor goes on to the one before it. */
static void end_step(time_splitter *splitter) {
  window_cursor *cursor = &splitter->cursors[WINDOW_STEP];
  slow_step *step = &splitter->step;
  process_counts *counts = splitter->counts;
  epoch_stats *epoch = epoch_of(splitter, cursor->window.epoch);
  if (!counts->steps) counts->steps = calloc(1, sizeof *counts->steps);
  step->epoch = cursor->window.epoch;
  step->step = cursor->window.step;
  step->index = cursor->index;
  step->start = cursor->window.start;
  if (epoch) epoch->steps++;
  if (counts->steps) {
    for (int i = 0; i < TIME_CLASSES; i++) {
      step->ns += step->class_ns[i];
      counts->steps->class_ns[i] += step->class_ns[i];
    }
    splitter->is_good &= histogram_add(&counts->steps->durations, step->ns);
    step_times_add(counts->steps, step);
  } else {
    splitter->is_good = 0;
  }
  *step = (slow_step){0};
  next_window(cursor);
}

/* ---- Changes of phase, step and epoch ------------------------------------------------------------------------------- */

/* Goes on to the window that matters before this moment. */
static void move_on(time_splitter *splitter, enum window_kind kind) {
  window_cursor *cursor = &splitter->cursors[kind];
  while (cursor->index && cursor->window.start >= splitter->now) {
    if (kind == WINDOW_STEP) end_step(splitter);
    else next_window(cursor);
  }
  cursor->is_inside = cursor->index && cursor->window.end >= splitter->now;
  cursor->edge = !cursor->index ? INT64_MIN : cursor->is_inside ? cursor->window.start : cursor->window.end;
}

/* What the time before this moment belongs to, and how long it does. */
static void look_back(time_splitter *splitter) {
  const process_counts *counts = splitter->counts;
  const int64_t now = splitter->now;
  int64_t floor = splitter->first;
  splitter->phase = now > counts->loop_last ? PHASE_END : now > counts->loop_first ? PHASE_LOOP : PHASE_START;
  if (splitter->phase == PHASE_END && counts->loop_last > floor) floor = counts->loop_last;
  if (splitter->phase == PHASE_LOOP && counts->loop_first > floor) floor = counts->loop_first;
  for (int kind = 0; kind < WINDOW_KINDS; kind++) {
    window_cursor *cursor = &splitter->cursors[kind];
    if (cursor->edge >= now) move_on(splitter, (enum window_kind)kind);
    if (cursor->edge > floor) floor = cursor->edge;
  }
  if (splitter->cursors[WINDOW_PAUSE].is_inside) splitter->phase = PHASE_END;
  if (splitter->cursors[WINDOW_EVALUATION].is_inside) splitter->phase = PHASE_EVALUATION;
  splitter->floor = floor;
}

__attribute__((cold)) static void book_aside(time_splitter *splitter, enum time_class class) {
  splitter->counts->aside_ns[aside_of(class)][splitter->phase] += splitter->spent_aside[class];
  splitter->spent_aside[class] = 0;
}

/* Books what was spent since the last change. */
static void book(time_splitter *splitter) {
  const window_cursor *epoch = &splitter->cursors[WINDOW_EPOCH], *step = &splitter->cursors[WINDOW_STEP];
  const int is_evaluation = splitter->phase == PHASE_EVALUATION;
  const int is_pause = splitter->cursors[WINDOW_PAUSE].is_inside && !is_evaluation;
  const int is_known = epoch->is_inside && !is_pause, is_loop = is_evaluation || splitter->phase == PHASE_LOOP;
  epoch_stats *stats = is_known || is_loop ? epoch_of(splitter, is_known ? epoch->window.epoch : NO_NUMBER) : NULL;
  uint64_t *of_phase = splitter->counts->split_ns[splitter->phase];
  uint64_t *of_epoch = stats && !is_evaluation ? stats->class_ns : NULL;
  uint64_t *of_step = step->is_inside && !is_evaluation && !is_pause ? splitter->step.class_ns : NULL;
  for (uint32_t classes = splitter->classes; classes; classes &= classes - 1) {
    const uint32_t class = (uint32_t)__builtin_ctz(classes);
    const uint64_t ns = splitter->spent[class];
    splitter->spent[class] = 0;
    of_phase[class] += ns;
    if (splitter->spent_aside[class]) book_aside(splitter, (enum time_class) class);
    if (of_epoch) of_epoch[class] += ns;
    if (of_step) of_step[class] += ns;
    if (stats && is_evaluation) stats->evaluation_ns += ns;
  }
  splitter->classes = 0;
}

static void spend(time_splitter *splitter, int64_t until, enum time_class class, int is_aside) {
  while (splitter->now > until) {
    int64_t to = until > splitter->floor ? until : splitter->floor;
    splitter->spent[class] += (uint64_t)(splitter->now - to);
    splitter->classes |= 1u << class;
    if (is_aside) splitter->spent_aside[class] += (uint64_t)(splitter->now - to);
    splitter->now = to;
    if (to > splitter->floor || to == splitter->first) return;
    book(splitter);
    look_back(splitter);
  }
}

/* ---- The way back --------------------------------------------------------------------------------------------------- */

void time_splitter_begin(time_splitter *splitter, process_counts *counts, tally *sums, int64_t first, int64_t last,
                         span_stack windows[WINDOW_KINDS]) {
  *splitter = (time_splitter){.counts = counts, .sums = sums, .first = first, .now = last, .is_good = 1};
  for (int kind = 0; kind < WINDOW_KINDS; kind++) {
    splitter->cursors[kind].stack = &windows[kind];
    splitter->cursors[kind].edge = INT64_MAX;
    next_window(&splitter->cursors[kind]);
  }
  look_back(splitter);
}

void time_splitter_cross(time_splitter *splitter, int64_t start, int64_t end, enum time_class class, int is_aside) {
  spend(splitter, end, TIME_OUTSIDE, 0);
  spend(splitter, start, class, is_aside);
}

int time_splitter_end(time_splitter *splitter) {
  spend(splitter, splitter->first, TIME_OUTSIDE, 0);
  book(splitter);
  while (splitter->cursors[WINDOW_STEP].index) end_step(splitter);
  return splitter->is_good && !spill_error();
}
