/* processcounts.h - what one process did. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_PROCESSCOUNTS_H
#define DFTRACER_PROCESSCOUNTS_H

#include "arrivals.h"
#include "iostat.h"
#include "regionstats.h"

typedef struct process_counts {
  uint64_t events;
  uint64_t calls; /* of the system and of streams; a copy is one, though io counts its two transfers */
  io_stats io;    /* the sum over its files, when the source has no more events */
  region_stats regions;
  uint64_t ai_count[AI_KINDS], ai_ns[AI_KINDS];
  uint64_t updates; /* steps of optimizers */
  spanset compute, fetch, data;
  spanset reads, writes; /* transfers; in a state, those of all processes are one set */
  arrivals comm;         /* calls of communication */
  uint64_t loop_events;  /* events of a training loop, and when the first began and the last ended */
  int64_t loop_first, loop_last;
} process_counts;

/* Calls of compute and fetch are what a trainer does. */
static inline int process_is_trainer(const process_counts *counts) {
  return counts->ai_count[AI_COMPUTE] || counts->ai_count[AI_FETCH];
}

/* Nothing is added for a while. 0: no memory, or no room for the spill. */
int process_counts_settle(process_counts *counts);
/* Frees everything and starts again from zero. */
void process_counts_clear(process_counts *counts);

#endif
