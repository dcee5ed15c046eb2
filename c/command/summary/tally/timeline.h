/* timeline.h - the epoch and the step that each event of a process belongs to.
 *
 * It is decided by time, on whatever thread: an event belongs to the innermost epoch (or step) that contains it, else to the
 * innermost one that it starts in. Epochs are the events of kind epoch; if the process has none, all events that have the
 * argument `epoch`, which then count for themselves, too. Steps are all events that have the argument `step`.
 *
 * Epochs and steps are known only after the events in them, so everything is kept, and spilled, until the source has no more
 * events. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TIMELINE_H
#define DFTRACER_TIMELINE_H

#include "command/trace/recordpile.h"
#include "eventclass.h"
#include "tally.h"

typedef struct timeline {
  record_pile epochs, steps, events;
  int has_epochs;      /* there are events of kind epoch */
  int has_own_numbers; /* and at least one has a number */
} timeline;

/* What an event is part of. */
typedef struct timeline_place {
  int64_t epoch, step; /* NO_NUMBER: none, or not known */
  int64_t start, end;
  uint64_t self_ns;
  uint32_t kind; /* ai_kind */
  uint32_t is_wanted;
} timeline_place;

/* Adds an event. is_by_step: all events that are wanted get a place; otherwise those of a training. 0: no memory, or no room
 * for the spill. */
int timeline_add(timeline *times, const moment *event, int64_t self, const event_class *class, int is_by_step);
/* Calls for each event, in the order of starts. 0: as before. */
typedef void timeline_call(void *context, const timeline_place *place);
int timeline_resolve(timeline *times, timeline_call *call, void *context);
void timeline_free(timeline *times);

#endif
