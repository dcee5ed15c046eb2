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
  region_hulls hulls;
  uint64_t startups; /* events of start-up, and when the last one ended */
  int64_t startup_last;
  uint64_t finals; /* calls of MPI_Finalize, and when the last one began and ended */
  int64_t final_first, final_last;
  record_pile steps; /* as they ended */
  span_stack windows[WINDOW_KINDS];
} process_frame;

/* These return 0 when there is no memory, or no room for the spill. */

int process_frame_add_region(process_frame *frame, process_counts *counts, const event_class *class,
                             const moment *event);
/* Whether such a region changes nothing. */
static inline int process_frame_ignores(const process_counts *counts, const event_class *class) {
  return !class->stage && (class->work == WORK_NONE || process_is_training(counts)); /* events tell where its loop is */
}
/* Not of an evaluation. */
int process_frame_add_step(process_frame *frame, const event_place *place);
/* Sets the loop of a process that is no training. */
void process_frame_find_loop(process_frame *frame, process_counts *counts, int64_t first, int64_t last);
/* Tells what the process did before its loop and after it, which is known. */
void process_frame_tell_ends(const process_frame *frame, process_counts *counts);
/* Makes the windows: of evaluation, and, if the process trains, of epochs and steps. */
int process_frame_make_windows(process_frame *frame, process_counts *counts, step_finder *times, int has_epochs);
void process_frame_free(process_frame *frame);

#endif
