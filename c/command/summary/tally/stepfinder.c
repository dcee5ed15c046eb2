/* stepfinder.c - the epoch and the step that each event of a process belongs to.
 * SPDX-License-Identifier: MIT */
#include "stepfinder.h"

#include <stdlib.h>

/* ---- What is kept ---------------------------------------------------------------------------------------------------- */

/* An epoch or a step. */
typedef struct time_window {
  int64_t start, end;
  int64_t number;   /* NO_NUMBER: of an epoch, its event has none */
  int64_t is_epoch; /* an event of kind epoch */
  int64_t worker;   /* of a batch */
} time_window;

/* The outer one first. */
static int by_window(const void *a, const void *b) {
  const time_window *one = a, *two = b;
  if (one->start != two->start) return one->start < two->start ? -1 : 1;
  if (one->end != two->end) return one->end > two->end ? -1 : 1;
  if (one->number != two->number) return one->number < two->number ? -1 : 1;
  if (one->is_epoch != two->is_epoch) return one->is_epoch < two->is_epoch ? -1 : 1;
  return (one->worker > two->worker) - (one->worker < two->worker);
}

static int by_place(const void *a, const void *b) {
  const event_place *one = a, *two = b;
  const int is_epoch = one->kind == AI_EPOCH, is_other = two->kind == AI_EPOCH;
  if (one->start != two->start) return one->start < two->start ? -1 : 1;
  if (is_epoch != is_other) return is_other - is_epoch; /* before what is in it */
  if (one->end != two->end) return one->end < two->end ? -1 : 1;
  if (one->is_update != two->is_update) return one->is_update ? -1 : 1;
  if (one->epoch != two->epoch) return one->epoch < two->epoch ? -1 : 1;
  return (one->step > two->step) - (one->step < two->step);
}

static int add_window(record_pile *pile, const moment *event, int64_t number, int is_epoch) {
  time_window window = {event->start, event->end, number, is_epoch, event->worker};
  pile->record_bytes = sizeof window;
  pile->compare = by_window;
  return record_pile_add(pile, &window);
}

int step_finder_add(step_finder *times, const moment *event, int64_t self, const event_class *class, int is_by_step) {
  const int64_t epoch = event->epoch < 0 ? NO_NUMBER : event->epoch;
  const int64_t step = event->step == NO_STEP ? NO_NUMBER : event->step;
  const int is_epoch = class->ai == AI_EPOCH, is_wanted = is_by_step && class->is_wanted;
  event_place place = {.epoch = epoch,
                       .step = step,
                       .worker = NO_NUMBER,
                       .batch = NO_NUMBER,
                       .start = event->start,
                       .end = event->end,
                       .self_ns = (uint64_t)self,
                       .kind = class->ai,
                       .is_update = class->is_update & 1,
                       .has_step = step != NO_NUMBER,
                       .samples = class->is_call ? 0 : event->samples,
                       .is_wanted = is_wanted & 1};
  times->has_epochs |= is_epoch;
  if (is_epoch && epoch != NO_NUMBER && (!times->has_own_numbers || epoch > times->last_number)) {
    times->has_own_numbers = 1;
    times->last_number = epoch;
  }
  if ((is_epoch || epoch != NO_NUMBER) && !add_window(&times->epochs, event, epoch, is_epoch)) return 0;
  if (is_by_step && step != NO_NUMBER && !add_window(&times->steps, event, step, 0)) return 0;
  if (is_by_step && !class->is_call && event->worker >= 0 && event->batch >= 0 &&
      !add_window(&times->batches, event, event->batch, 0))
    return 0;
  if (!is_wanted && (!class->ai || class->ai == AI_DATA || class->ai == AI_EMPTY)) return 1;
  times->events.record_bytes = sizeof place;
  times->events.compare = by_place;
  return record_pile_add(&times->events, &place);
}

void step_finder_free(step_finder *times) {
  record_pile_free(&times->epochs);
  record_pile_free(&times->steps);
  record_pile_free(&times->batches);
  record_pile_free(&times->events);
  times->has_epochs = times->has_own_numbers = 0;
  times->last_number = 0;
}

/* ---- Places ---------------------------------------------------------------------------------------------------------- */

/* The windows that have begun, the latest on top. Those on top have not ended. */
typedef struct window_stack {
  run_merge merge;
  const time_window *next; /* that has not begun */
  time_window *open;
  uint32_t count, capacity;
  int64_t last_number; /* that was given to an epoch without a number */
} window_stack;

static const time_window *innermost(const window_stack *stack, int64_t start, int64_t end) {
  const time_window *found = NULL;
  for (uint32_t i = stack->count; i-- > 0;) {
    if (stack->open[i].end >= end) return &stack->open[i];
    if (!found && stack->open[i].end > start) found = &stack->open[i];
  }
  return found;
}

/* In the place of those that ended before this moment, which may lie under others that have not. */
static int make_room(window_stack *stack, int64_t now) {
  const uint32_t capacity = stack->capacity ? stack->capacity * 2 : 16;
  time_window *open;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < stack->count; i++) {
    if (stack->open[i].end >= now) stack->open[kept++] = stack->open[i];
  }
  stack->count = kept;
  if (kept < stack->capacity / 2) return 1;
  open = realloc(stack->open, capacity * sizeof *open);
  if (!open) return 0;
  stack->open = open;
  stack->capacity = capacity;
  return 1;
}

static int push(window_stack *stack, const time_window *window) {
  if (stack->count == stack->capacity && !make_room(stack, window->start)) return 0;
  stack->open[stack->count++] = *window;
  return 1;
}

/* An epoch without a number is that of the epoch around it, or the next one: 1, 2, 3 ... */
static void number_epoch(window_stack *stack, time_window *window) {
  const time_window *outer = innermost(stack, window->start, window->end);
  window->number = outer ? outer->number : ++stack->last_number;
}

static int is_epoch(const window_stack *stack, const step_finder *times, const time_window *window) {
  if (!times->has_epochs || window->is_epoch) return window->is_epoch == times->has_epochs;
  for (uint32_t i = 0; i < stack->count; i++) {
    if (stack->open[i].is_epoch && stack->open[i].end > window->start) return 0;
  }
  return times->has_own_numbers && window->number > times->last_number;
}

/* Opens the windows that begin until then, and closes those that ended before. */
static int advance(window_stack *stack, int64_t now, const step_finder *times, int is_epochs) {
  while (stack->next && stack->next->start <= now) {
    time_window window = *stack->next;
    while (stack->count && stack->open[stack->count - 1].end < window.start) stack->count--;
    if (!is_epochs || is_epoch(stack, times, &window)) {
      if (is_epochs && times->has_epochs && !times->has_own_numbers) number_epoch(stack, &window);
      if (!push(stack, &window)) return 0;
    }
    stack->next = run_merge_next(&stack->merge);
  }
  while (stack->count && stack->open[stack->count - 1].end < now) stack->count--;
  return stack->merge.is_good;
}

static void open_stack(window_stack *stack, record_pile *pile) {
  *stack = (window_stack){0};
  record_pile_read(pile, &stack->merge);
  stack->next = run_merge_next(&stack->merge);
}

static void close_stack(window_stack *stack) {
  run_merge_free(&stack->merge);
  free(stack->open);
}

int step_finder_resolve(step_finder *times, event_place_call *call, void *context) {
  window_stack epochs, steps, batches;
  run_merge events;
  const event_place *event;
  int is_good = 1;
  open_stack(&epochs, &times->epochs);
  open_stack(&steps, &times->steps);
  open_stack(&batches, &times->batches);
  record_pile_read(&times->events, &events);
  while (is_good && (event = run_merge_next(&events)) != NULL) {
    event_place place = *event;
    const time_window *epoch, *step, *batch;
    is_good = advance(&epochs, place.start, times, 1) && advance(&steps, place.start, times, 0) &&
              advance(&batches, place.start, times, 0);
    epoch = innermost(&epochs, place.start, place.end);
    step = innermost(&steps, place.start, place.end);
    if (times->has_epochs || place.epoch == NO_NUMBER) place.epoch = epoch ? epoch->number : NO_NUMBER;
    if (place.step == NO_NUMBER && step) place.step = step->number;
    batch = innermost(&batches, place.start, place.end);
    if (batch) {
      place.worker = batch->worker;
      place.batch = batch->number;
      place.batch_end = batch->end;
    }
    if (is_good) call(context, &place, epoch && epoch->is_epoch ? epoch->start : NO_NUMBER);
  }
  is_good = is_good && events.is_good;
  close_stack(&epochs);
  close_stack(&steps);
  close_stack(&batches);
  run_merge_free(&events);
  return is_good;
}

/* The innermost one that lasts on from this moment. NULL: there is none. */
static const time_window *lasting(const window_stack *stack, int64_t now) {
  for (uint32_t i = stack->count; i-- > 0;) {
    if (stack->open[i].end > now) return &stack->open[i];
  }
  return NULL;
}

/* Takes the next window if it is over before another one begins, as most epochs are: then it need not be on the stack. */
static int take_lone(window_stack *stack, const step_finder *times, time_window *window) {
  const int is_numbered = !times->has_epochs || times->has_own_numbers;
  if (stack->count || !is_numbered || !is_epoch(stack, times, stack->next)) return 0;
  *window = *stack->next;
  stack->next = run_merge_next(&stack->merge);
  if (!stack->next || stack->next->start >= window->end) return 1;
  stack->merge.is_good &= push(stack, window);
  return 0;
}

int step_finder_epochs(step_finder *times, epoch_time_call *call, void *context) {
  window_stack epochs;
  time_window lone;
  int64_t now = INT64_MIN;
  int is_good = 1;
  open_stack(&epochs, &times->epochs);
  while (is_good) {
    const int64_t until = epochs.next ? epochs.next->start : INT64_MAX;
    const time_window *epoch;
    while (is_good && now < until && (epoch = lasting(&epochs, now)) != NULL) {
      const int64_t end = epoch->end < until ? epoch->end : until;
      is_good = call(context, now, end, epoch->number, epoch->is_epoch != 0);
      now = end;
    }
    if (!epochs.next) break;
    now = until;
    if (!take_lone(&epochs, times, &lone)) {
      is_good = is_good && advance(&epochs, now, times, 1);
    } else if (lone.end > now) {
      is_good = is_good && call(context, now, lone.end, lone.number, lone.is_epoch != 0);
      now = lone.end;
    }
  }
  is_good = is_good && epochs.merge.is_good;
  close_stack(&epochs);
  return is_good;
}
