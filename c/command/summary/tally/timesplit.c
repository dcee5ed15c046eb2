/* timesplit.c - the time of a process, split by phase and by what it was spent on.
 * SPDX-License-Identifier: MIT */
#include "timesplit.h"

const char *time_class_word(enum time_class number) {
  static const char *const words[TIME_CLASSES] = {"compute", "input", "communication", "checkpoint", "transfer",
                                                  "write",   "read",  "metadata",      "outside"};
  return words[number];
}

const char *time_phase_word(enum time_phase number) {
  static const char *const words[PHASES] = {"start", "loop", "evaluation", "end"};
  return words[number];
}
