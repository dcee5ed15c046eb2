/* timesplitter.c - adds up the time of a process.
 * SPDX-License-Identifier: MIT */
#include "timesplitter.h"

#include <stdlib.h>

#include "command/trace/spill.h"

/* ---- Windows -------------------------------------------------------------------------------------------------------- */

/* A window is three entries of the stack. */
int split_window_add(span_stack *stack, const split_window *window) {
  return span_stack_push(stack, (int64_t)window->index, 0) && span_stack_push(stack, window->epoch, window->step) &&
         span_stack_push(stack, window->start, window->end);
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
  stacked_span time, numbers, index;
  cursor->has_window = take(cursor->stack, &time) && take(cursor->stack, &numbers) && take(cursor->stack, &index);
  if (cursor->has_window)
    cursor->window = (split_window){time.start, time.end, numbers.start, numbers.end, (uint64_t)index.start};
}

/* Of the epoch with this number, which may be unknown; NULL: the process has no epochs. Whether any trainer has an event in it is
 * known when all traces are: state_drop_silent_epochs. */
static epoch_stats *epoch_of(const time_splitter *splitter, int64_t number) {
  return splitter->sums ? tally_epoch(splitter->sums, number) : NULL;
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
  step->index = cursor->window.index;
  step->start = cursor->window.start;
  for (int i = 0; i < TIME_CLASSES; i++) step->ns += step->class_ns[i];
  if (epoch) epoch->steps++;
  if (counts->steps) {
    for (int i = 0; i < TIME_CLASSES; i++) counts->steps->class_ns[i] += step->class_ns[i];
    splitter->is_good &= histogram_add(&counts->steps->durations, step->ns);
    step_times_add(counts->steps, step);
  } else {
    splitter->is_good = 0;
  }
  *step = (slow_step){0};
  next_window(cursor);
}

/* ---- Changes of phase, step and epoch ------------------------------------------------------------------------------- */

static void raise_floor(time_splitter *splitter, int64_t time) {
  if (time < splitter->now && time > splitter->floor) splitter->floor = time;
}

/* What the time before this moment belongs to, and how long it does. */
static void look_back(time_splitter *splitter) {
  const process_counts *counts = splitter->counts;
  const int64_t now = splitter->now;
  splitter->floor = splitter->first;
  for (int kind = 0; kind < WINDOW_KINDS; kind++) {
    window_cursor *cursor = &splitter->cursors[kind];
    while (cursor->has_window && cursor->window.start >= now) {
      if (kind == WINDOW_STEP) end_step(splitter);
      else next_window(cursor);
    }
    cursor->is_inside = cursor->has_window && cursor->window.end >= now;
    if (cursor->has_window) raise_floor(splitter, cursor->is_inside ? cursor->window.start : cursor->window.end);
  }
  raise_floor(splitter, counts->loop_last);
  raise_floor(splitter, counts->loop_first);
  splitter->phase = now > counts->loop_last ? PHASE_END : now > counts->loop_first ? PHASE_LOOP : PHASE_START;
  if (splitter->cursors[WINDOW_PAUSE].is_inside) splitter->phase = PHASE_END;
  if (splitter->cursors[WINDOW_EVALUATION].is_inside) splitter->phase = PHASE_EVALUATION;
}

/* Books what was spent since the last change. */
static void book(time_splitter *splitter) {
  const window_cursor *epoch = &splitter->cursors[WINDOW_EPOCH], *step = &splitter->cursors[WINDOW_STEP];
  const int is_evaluation = splitter->phase == PHASE_EVALUATION;
  const int is_pause = splitter->cursors[WINDOW_PAUSE].is_inside && !is_evaluation;
  const int is_known = epoch->is_inside && !is_pause, is_loop = is_evaluation || splitter->phase == PHASE_LOOP;
  epoch_stats *stats = is_known || is_loop ? epoch_of(splitter, is_known ? epoch->window.epoch : NO_NUMBER) : NULL;
  splitter->counts->aside_ns[splitter->phase] += splitter->spent_aside;
  splitter->spent_aside = 0;
  for (int i = 0; i < TIME_CLASSES; i++) {
    const uint64_t ns = splitter->spent[i];
    if (!ns) continue;
    splitter->counts->split_ns[splitter->phase][i] += ns;
    if (stats && is_evaluation) stats->evaluation_ns += ns;
    if (stats && !is_evaluation) stats->class_ns[i] += ns;
    if (step->is_inside && !is_evaluation && !is_pause) splitter->step.class_ns[i] += ns;
    splitter->spent[i] = 0;
  }
}

static void spend(time_splitter *splitter, int64_t until, enum time_class class, int is_aside) {
  while (splitter->now > until) {
    int64_t to = until > splitter->floor ? until : splitter->floor;
    splitter->spent[class] += (uint64_t)(splitter->now - to);
    if (is_aside) splitter->spent_aside += (uint64_t)(splitter->now - to);
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
    next_window(&splitter->cursors[kind]);
  }
  look_back(splitter);
}

void time_splitter_add(time_splitter *splitter, int64_t start, int64_t end, enum time_class class, int is_aside) {
  spend(splitter, end, TIME_OUTSIDE, 0);
  spend(splitter, start, class, is_aside);
}

int time_splitter_end(time_splitter *splitter) {
  spend(splitter, splitter->first, TIME_OUTSIDE, 0);
  book(splitter);
  while (splitter->cursors[WINDOW_STEP].has_window) end_step(splitter);
  return splitter->is_good && !spill_error();
}
