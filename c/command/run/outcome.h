/* outcome.h - after dftracer run: what was recorded, and where it is.
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
  int32_t size;          /* ranks of the job */
  int is_quiet;
  struct timespec since; /* the start of the job */
  census before;         /* the traces there before */
  int notes;             /* a file in which traced processes note other folders, those that a program names; -1: none */
  char notes_path[PATH_MAX];
} outcome;

/* Before the program runs. */
void outcome_begin(outcome *of);

/* When it has run: publishes what killed processes left, and says on stderr what there is. */
void outcome_report(outcome *of, const program *what);

/* Gives back what outcome_begin took. */
void outcome_end(outcome *of);

/* Publishes what killed processes left in the folder. */
void outcome_recover(const char *folder, dft_recovery *report);

#endif
