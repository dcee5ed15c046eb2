/* processframe.h - what the split of a process's time needs until all its events are known. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_PROCESSFRAME_H
#define DFTRACER_PROCESSFRAME_H

#include "eventclass.h"
#include "regionhulls.h"
#include "spanset.h"
#include "stepfinder.h"
#include "timesplitter.h"

/* Zero: empty. */
typedef struct process_frame {
  spanset evaluation;
  region_hulls hulls;
  uint64_t startups; /* events of start-up, and when the last one ended */
  int64_t startup_last;
  record_pile steps; /* as they ended */
  span_stack windows[WINDOW_KINDS];
} process_frame;

/* These return 0 when there is no memory, or no room for the spill. */

/* A region. `is_loop_known`: events tell where the loop is. */
int process_frame_add_region(process_frame *frame, const event_class *class, const moment *event, int is_loop_known);
/* Whether it would change nothing. */
static inline int process_frame_ignores(const event_class *class, int is_loop_known) {
  return class->stage == STAGE_NONE && (is_loop_known || class->work == WORK_NONE);
}
int process_frame_add_step(process_frame *frame, const event_place *place);
/* Sets the loop of a process that is no training. */
void process_frame_find_loop(const process_frame *frame, process_counts *counts, int64_t first, int64_t last);
/* Makes the windows: of evaluation, and, if the process trains, of epochs and steps. */
int process_frame_make_windows(process_frame *frame, const process_counts *counts, step_finder *times, int has_epochs);
void process_frame_free(process_frame *frame);

#endif
