/* training.h - how a training went.
 *
 * A process that computes or fetches is a trainer. A process that does neither, such as a DataLoader worker, loads for the
 * nearest of its ancestors that is a trainer. Without one, as when a fork server started it, it loads for the only trainer of
 * its host and rank. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TRAINING_H
#define DFTRACER_TRAINING_H

#include "command/summary/state/summarystate.h"

/* Sums over all trainers. */
typedef struct training_totals {
  uint64_t processes; /* trainers */
  int is_sequence;    /* none of them trained while another one did: trainings one after the other, as of a script */
  uint64_t epochs;
  uint64_t steps, steps_least;            /* of the trainer with the most, and of that with the least */
  uint64_t batches;                       /* fetches of the trainer with the most, without those of evaluations */
  uint64_t count[AI_KINDS], ns[AI_KINDS]; /* calls, and their durations added up */
  uint64_t compute_ns, fetch_ns, data_ns; /* time in which at least one thread was doing this */
  uint64_t data_in_loop_ns;               /* of data_ns, what is in the loop of the trainer */
  uint64_t wait_ns;                       /* fetching while nothing computes */
  int is_fetch_known;                     /* fetches are recorded, and no trace says that some are not */
  uint64_t hidden_ns;                     /* loading while something computes */
  uint64_t loop_ns;                       /* from the first event of the loop to the last */
  struct {
    uint64_t ns, compute_ns, fetch_ns, wait_ns, data_ns;
  } train;              /* the same within the loop, without evaluation */
  uint64_t updates;     /* steps of optimizers */
  uint64_t pause_ns;    /* pauses of the loop, which are not part of it: looplimits.h */
  uint64_t startup_ns;  /* from the start of the trainer's process, or else its first event */
  uint64_t before_ns;   /* of this, before the first event */
  uint64_t teardown_ns; /* to its last event */
} training_totals;

/* By number of a process: whose worker it is; 0: it is a trainer, or unclear. The caller frees it. NULL: no memory. */
uint32_t *training_trainers(const summary_state *state);
/* Who loads for whom, by number of a process: the first one that loads for it; the next one that loads for the same. */
typedef struct worker_lists {
  uint32_t *first, *next;
  uint8_t *is_worker;
} worker_lists;

int worker_lists_init(worker_lists *workers, const summary_state *state); /* 0: no memory. Free it in any case. */
uint32_t worker_lists_count(const worker_lists *workers, uint32_t trainer);
void worker_lists_free(worker_lists *workers);

/* Whether the state was merged from states that held a trainer and its workers apart: then --by step cannot know the steps of
 * the workers. */
int training_has_split(const summary_state *state);
/* The training loop of a process without its evaluations. 0: no memory, or the spill cannot be read. */
int training_loop(process_counts *counts, spanset *loop);
/* Of a sorted state. 0: no memory, or the spill cannot be read. */
int training_sum(summary_state *state, training_totals *sum);

/* Optimizers make steps, and something else computes, too: no solver, which may call what it does a step. */
static inline int training_has_updates(const training_totals *training) {
  return training->updates && training->count[AI_COMPUTE] > training->updates;
}

/* Whether there was a training at all. */
static inline int training_exists(const training_totals *training) {
  return training->count[AI_COMPUTE] || training->count[AI_FETCH];
}

#endif
