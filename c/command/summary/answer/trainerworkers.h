/* trainerworkers.h - the processes that load for a trainer in its training loop: how busy they are, and how many would suffice.
 *
 * Evaluations do not count: who loads more in them than in the rest of the loop loads for them. Neither do processes that made
 * the data before the loop. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TRAINERWORKERS_H
#define DFTRACER_TRAINERWORKERS_H

#include "training.h"

/* Zero: there are none. */
typedef struct trainer_workers {
  uint32_t count;            /* all of them: a loader may start new ones for each epoch */
  uint32_t at_once;          /* the most at one moment */
  uint32_t empty;            /* at one moment: further ones, which only found that there is no data for them */
  uint64_t life_ns, busy_ns; /* within the loop, without evaluation: they exist, they load; added up */
  uint32_t busiest;          /* the process that is busy for the largest share of its time; 0: none */
  double busiest_share;      /* this share */
  uint64_t busiest_ns;       /* of so much */
  uint64_t enough;           /* so many could load the same while the trainer does not wait for data; 0: not known */
} trainer_workers;

/* Of the trainer with this number. wait_ns: its waiting in the loop without evaluation. 0: no memory, or the spill cannot be
 * read. */
int trainer_workers_measure(trainer_workers *workers, summary_state *state, const worker_lists *lists, uint32_t trainer,
                            uint64_t wait_ns);

#endif
