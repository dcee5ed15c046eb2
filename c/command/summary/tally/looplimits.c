/* looplimits.c - where a training loop ends, and where it pauses.
 * SPDX-License-Identifier: MIT */
#include "looplimits.h"

#define SECOND_NS 1000000000

void loop_limits_begin(loop_limits *limits) {
  *limits = (loop_limits){.epoch = NO_NUMBER, .saved = INT64_MIN};
}

int loop_limits_is_pause(const loop_limits *limits, int64_t until) {
  const int64_t gap = until - limits->end;
  return limits->has_begun && gap >= SECOND_NS && gap > limits->end - limits->begin;
}

/* Of the training itself, not what follows it. */
static int is_training(const event_place *place) {
  return place->kind == AI_FETCH || place->kind == AI_START || place->kind == AI_COMPUTE || place->kind == AI_STEP;
}

/* What begins an epoch, is apart from what came before, or is not of the training itself. */
__attribute__((noinline)) static int add_other(loop_limits *limits, const event_place *place, int64_t epoch,
                                               int is_evaluated, spanset *pauses) {
  const int is_pause = loop_limits_is_pause(limits, place->start);
  int is_good = 1;
  if (!is_training(place) || is_evaluated) {
    if (!limits->has_begun || is_pause) return 1;
    if (place->kind == AI_CHECKPOINT && place->start - limits->end < SECOND_NS && place->end > limits->saved)
      limits->saved = place->end;
  } else {
    if (is_pause && epoch != limits->epoch) is_good = spanset_add(pauses, limits->end, place->start);
    if (!limits->has_begun || epoch != limits->epoch) limits->begin = place->start;
    if (!limits->has_begun) limits->end = place->end;
    limits->has_begun = 1;
    limits->epoch = epoch;
  }
  if (place->end > limits->end) limits->end = place->end;
  return is_good;
}

int loop_limits_add(loop_limits *limits, const event_place *place, int64_t epoch, int is_evaluated, spanset *pauses) {
  const int goes_on = limits->has_begun && epoch == limits->epoch && place->start - limits->end < SECOND_NS;
  if (!goes_on || is_evaluated || !is_training(place)) return add_other(limits, place, epoch, is_evaluated, pauses);
  if (place->end > limits->end) limits->end = place->end;
  return 1;
}

int loop_limits_end(loop_limits *limits, int64_t *loop_last, spanset *pauses) {
  const int64_t last = *loop_last;
  if (loop_limits_is_pause(limits, last)) {
    *loop_last = limits->end;
    return spanset_add(pauses, limits->end, last);
  }
  if (limits->saved > last) *loop_last = limits->saved;
  return 1;
}
