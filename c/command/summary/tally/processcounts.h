/* processcounts.h - what one process did. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_PROCESSCOUNTS_H
#define DFTRACER_PROCESSCOUNTS_H

#include "commcounts.h"
#include "iostat.h"
#include "pursuits.h"
#include "regionstats.h"
#include "timesplit.h"

/* The region with most time in a phase. */
typedef struct phase_region {
  uint32_t name, cat; /* while traces are read: the number of the class, and 0; in a state: texts */
  uint64_t ns;        /* 0: there is none */
} phase_region;

typedef struct process_counts {
  uint64_t events;
  uint64_t calls; /* of the system and of streams; a copy is one, though io counts its two transfers */
  io_stats io;    /* the sum over its files, when the source has no more events */
  region_stats regions;
  uint64_t ai_count[AI_KINDS], ai_ns[AI_KINDS];
  uint64_t updates;      /* steps of optimizers */
  uint64_t is_inference; /* all it did was an evaluation, which is its loop then */
  uint64_t batches;      /* fetches outside of evaluations */
  spanset compute, fetch, data, evaluation;
  spanset starts;        /* of the fetching: its loaders begin and end */
  spanset pauses;        /* of the training loop: looplimits.h */
  spanset reads, writes; /* transfers; in a state, those of all processes are one set */
  comm_counts comm;      /* from tally.h, when all is read */
  uint64_t loop_events;  /* events of a training loop, and when the first began and the last ended */
  int64_t loop_first, loop_last;
  uint64_t split_ns[PHASES][TIME_CLASSES]; /* of all threads: timesplit.h; */
  uint64_t aside_ns[ASIDES][PHASES];       /* of it, that of other threads, while the main one is in nothing known */
  phase_region start_region, end_region;   /* with most time before the loop, and after it */
  uint64_t finals;                         /* calls of MPI_Finalize, and when the last one began and ended */
  int64_t final_first, final_last;
  step_times *steps;               /* NULL: it has none */
  record_pile grains[GRAIN_KINDS]; /* io_grain, in order: when it was in I/O calls, by grain_kind */
  pursuits pursuits;               /* of its thread that communicates, if there is only one */
} process_counts;

/* Calls of compute and fetch are what a trainer does. */
static inline int process_is_trainer(const process_counts *counts) {
  return counts->ai_count[AI_COMPUTE] || counts->ai_count[AI_FETCH];
}

/* Events tell where its training loop is. */
static inline int process_is_training(const process_counts *counts) {
  return counts->ai_count[AI_FETCH] || counts->ai_count[AI_START] || counts->ai_count[AI_EPOCH] ||
         counts->ai_count[AI_STEP] || counts->updates;
}

/* Nothing is added for a while. 0: no memory, or no room for the spill. */
int process_counts_settle(process_counts *counts);
/* Frees everything and starts again from zero. */
void process_counts_clear(process_counts *counts);

#endif
