/* totals.h - everything the summary knows of a set of traces. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TOTALS_H
#define DFTRACER_TOTALS_H

#include "command/cli/progress.h"
#include "training.h"

typedef struct trace_totals {
  analysis shared;
  tally counts;                         /* of all workers */
  uint64_t grain_ns;                    /* durations are multiples of it */
  uint64_t thread_ns, region_ns, io_ns; /* of all threads */
  uint64_t overrun;                     /* why steps are approximate; see steps.h */
  training_totals training;
} trace_totals;

/* Reads all traces. The totals must be zero; call totals_free even after a failure. 0: no memory. */
int totals_collect(trace_totals *totals, dft_reader *reader, const summary_question *question, progress *shown);
void totals_free(trace_totals *totals);

/* Time of all threads that no event covers. */
static inline uint64_t totals_outside_ns(const trace_totals *totals) {
  return totals->thread_ns - totals->region_ns - totals->io_ns;
}
static inline uint64_t totals_job_ns(const trace_totals *totals) {
  return (uint64_t)(totals->counts.last - totals->counts.first);
}

#endif
