/* outcome.h - after dftracer run: finds the traces of the job and prints the summary line.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_OUTCOME_H
#define DFTRACER_OUTCOME_H

#include <dftracer/dft.h>
#include <limits.h>

#include "census.h"
#include "program.h"

typedef struct outcome {
  char folder[PATH_MAX]; /* where traces should go */
  const char *io;        /* the files whose calls are recorded; "": all; NULL: no calls */
  int with_nvtx;         /* NVTX calls are recorded */
  int32_t size;          /* ranks of the job */
  int is_quiet;
  struct timespec since; /* start of the job */
  census before;         /* the traces that existed before */
  int notes;             /* a file in which traced processes note the trace folders they chose themselves; -1: none */
  char notes_path[PATH_MAX];
} outcome;

/* Call before the program runs. */
void outcome_begin(outcome *job);

/* Call after the program has ended: publishes what killed processes left, and prints the summary line on stderr. */
void outcome_report(outcome *job, const program *target);

/* Releases what outcome_begin acquired. */
void outcome_end(outcome *job);

/* Publishes what killed processes left in the folder. */
void outcome_recover(const char *folder, dft_recovery *report);

#endif
