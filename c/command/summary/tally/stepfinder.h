/* stepfinder.h - the epoch and the step that each event of a process belongs to.
 *
 * It is decided by time, on whatever thread: an event belongs to the innermost epoch (or step) that contains it, else to the
 * innermost one that it starts in. Epochs are the events of kind epoch; if the process has none, all events that have the
 * argument `epoch`, which then count for themselves, too. The same is done for numbers after the last epoch, outside of all
 * epochs: the process died before that one ended. Steps are all events that have the argument `step`, and batches
 * those that have `worker` and `batch`.
 *
 * Epochs and steps are known only after the events in them, so everything is kept, and spilled, until the source has no more
 * events. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_STEPFINDER_H
#define DFTRACER_STEPFINDER_H

#include "command/trace/recordpile.h"
#include "eventclass.h"
#include "tally.h"

typedef struct step_finder {
  record_pile epochs, steps, batches, events;
  int has_epochs;      /* there are events of kind epoch */
  int has_own_numbers; /* and at least one has a number */
  int64_t last_number; /* the largest; what a later epoch did is known by its events, if the process died in it */
} step_finder;

/* What an event is part of. */
typedef struct event_place {
  int64_t epoch, step;   /* NO_NUMBER: none, or not known */
  int64_t worker, batch; /* that it loads or fetches; NO_NUMBER: none */
  int64_t batch_end;     /* when it was complete */
  int64_t start, end;
  uint64_t self_ns;
  uint32_t kind : 8;      /* ai_kind */
  uint32_t is_update : 1; /* an optimizer's step */
  uint32_t has_step : 1;  /* the step is its own argument */
  uint32_t is_wanted : 1;
  uint32_t samples; /* of the batch of a fetch; 0: not given */
} event_place;

/* Adds an event. is_by_step: all events that are wanted get a place; otherwise those of a training. 0: no memory, or no room
 * for the spill. */
int step_finder_add(step_finder *times, const moment *event, int64_t self, const event_class *class, int is_by_step);
/* Calls for each event, in the order of starts, with the start of the event of kind epoch that it is part of (NO_NUMBER: there is
 * none). 0: as before. */
typedef void event_place_call(void *context, const event_place *place, int64_t epoch_start);
int step_finder_resolve(step_finder *times, event_place_call *call, void *context);
/* Calls for the times of epochs, in order and disjoint: at each moment the innermost epoch counts. is_event: of an event of kind
 * epoch. The call returns 0 to stop. 0: as before, or it was stopped. */
typedef int epoch_time_call(void *context, int64_t start, int64_t end, int64_t number, int is_event);
int step_finder_epochs(step_finder *times, epoch_time_call *call, void *context);
void step_finder_free(step_finder *times);

#endif
