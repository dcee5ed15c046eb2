/* timesplitter.h - adds up the time of a process, from its last moment back to its first: by phase, by step, by epoch, and by
 * what it was spent on. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TIMESPLITTER_H
#define DFTRACER_TIMESPLITTER_H

#include "command/trace/spanstack.h"
#include "processcounts.h"
#include "tally.h"

/* A step, a part of an epoch, a time of evaluation, or a pause of the loop. */
typedef struct split_window {
  int64_t start, end;
  int64_t epoch, step; /* NO_NUMBER: not known */
} split_window;

/* Windows of one kind are disjoint. Adds one, in the order of ends, to a stack that is read from the last to the first. 0: no
 * memory, or no room for the spill. */
int split_window_add(span_stack *stack, const split_window *window);

enum window_kind { WINDOW_EVALUATION, WINDOW_PAUSE, WINDOW_EPOCH, WINDOW_STEP, WINDOW_KINDS };

/* The windows of one kind, the one at hand first. */
typedef struct window_cursor {
  span_stack *stack;
  split_window window;
  uint64_t index; /* of the window, from 1 on; 0: there is none at or before this moment */
  int is_inside;  /* the window covers this moment */
  int64_t edge;   /* when that changes; INT64_MIN: it stays */
} window_cursor;

/* An epoch that was asked for, as there are few: one with a number, and the unknown one. */
typedef struct known_epoch {
  int64_t number;
  uint32_t place; /* in the tally; 0: none was asked for */
} known_epoch;

typedef struct time_splitter {
  process_counts *counts;
  tally *sums;   /* of the epochs; NULL: the process has none */
  int64_t first; /* of the process */
  int64_t now;   /* what is later was counted */
  int64_t floor; /* until here, phase, step and epoch stay the same */
  enum time_phase phase;
  uint64_t spent[TIME_CLASSES];       /* since they changed */
  uint64_t spent_aside[TIME_CLASSES]; /* of this, aside */
  uint32_t classes;                   /* a bit for each of spent that is not 0 */
  window_cursor cursors[WINDOW_KINDS];
  slow_step step; /* that is being added up */
  known_epoch epochs[2];
  int is_good;
} time_splitter;

/* The process has events from `first` to `last`, its loop is in counts. */
void time_splitter_begin(time_splitter *splitter, process_counts *counts, tally *sums, int64_t first, int64_t last,
                         span_stack windows[WINDOW_KINDS]);
void time_splitter_cross(time_splitter *splitter, int64_t start, int64_t end, enum time_class class, int is_aside);
/* Before what was added so far. What is not added is outside. */
static inline void time_splitter_add(time_splitter *splitter, int64_t start, int64_t end, enum time_class class,
                                     int is_aside) {
  if (start <= splitter->floor || end > splitter->now) {
    time_splitter_cross(splitter, start, end, class, is_aside);
    return;
  }
  splitter->spent[TIME_OUTSIDE] += (uint64_t)(splitter->now - end);
  splitter->spent[class] += (uint64_t)(end - start);
  if (is_aside) splitter->spent_aside[class] += (uint64_t)(end - start);
  splitter->classes |= 1u << TIME_OUTSIDE | 1u << class;
  splitter->now = start;
}
/* 0: no memory, or the spill cannot be read. */
int time_splitter_end(time_splitter *splitter);

#endif
