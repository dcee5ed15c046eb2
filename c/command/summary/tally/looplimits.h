/* looplimits.h - where a training loop ends, and where it pauses.
 *
 * The events of a training tell where its loop is: fetches, steps, compute. An epoch that nobody ended lasts until the next one
 * begins, or until the process ends, whatever the program does in between: plots, or the set-up of a second training. So the end
 * of an epoch is not believed if nothing of the training happened in it for long: a second or more, and longer than the epoch
 * had worked until then. That is a pause. What follows at once still belongs to the loop: evaluations, checkpoints, collectives.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_LOOPLIMITS_H
#define DFTRACER_LOOPLIMITS_H

#include "spanset.h"
#include "stepfinder.h"

/* Of a process, while its events come in the order of their starts. */
typedef struct loop_limits {
  int has_begun;
  int64_t epoch; /* when the epoch at hand began; NO_NUMBER: there is none */
  int64_t begin; /* of its work */
  int64_t end;   /* of what has come so far, with what followed at once */
  int64_t saved; /* the end of the last checkpoint among it */
} loop_limits;

void loop_limits_begin(loop_limits *limits);
/* Whether nothing came for long. */
int loop_limits_is_pause(const loop_limits *limits, int64_t until);
/* An event that begins in this epoch (NO_NUMBER: in none). Adds a pause before it, if there is one. 0: no memory, or no room for
 * the spill. */
int loop_limits_add(loop_limits *limits, const event_place *place, int64_t epoch, int is_evaluated, spanset *pauses);
/* All events have come. Corrects the end of the loop. */
int loop_limits_end(loop_limits *limits, int64_t *loop_last, spanset *pauses);

#endif
