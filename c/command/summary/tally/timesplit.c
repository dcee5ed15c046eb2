/* timesplit.c - the time of a process, split by phase and by what it was spent on.
 * SPDX-License-Identifier: MIT */
#include "timesplit.h"

#include <string.h>

const char *time_class_word(enum time_class number) {
  static const char *const words[TIME_CLASSES] = {"compute",  "input",   "communication", "checkpoint",
                                                  "transfer", "write",   "sync",          "read",
                                                  "metadata", "compile", "outside"};
  return words[number];
}

const char *time_phase_word(enum time_phase number) {
  static const char *const words[PHASES] = {"start", "loop", "evaluation", "end"};
  return words[number];
}

static int is_slower(const slow_step *one, const slow_step *two) {
  if (one->ns != two->ns) return one->ns > two->ns;
  return one->start != two->start ? one->start < two->start : one->index < two->index;
}

void step_times_add(step_times *steps, const slow_step *step) {
  uint32_t at = steps->slow_count;
  while (at && is_slower(step, &steps->slowest[at - 1])) at--;
  if (at == SLOW_STEPS) return;
  if (steps->slow_count < SLOW_STEPS) steps->slow_count++;
  memmove(&steps->slowest[at + 1], &steps->slowest[at], (steps->slow_count - at - 1) * sizeof *step);
  steps->slowest[at] = *step;
}
