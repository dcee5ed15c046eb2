/* trainers.h - how each trainer spent its time, its workers, and the steps of all trainers. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TRAINERS_H
#define DFTRACER_TRAINERS_H

#include "trainerworkers.h"

typedef struct trainer_line {
  uint32_t process;                /* its number in the state */
  uint64_t loop_ns, evaluation_ns; /* the loop without evaluation; evaluation */
  uint64_t class_ns[TIME_CLASSES]; /* of the loop without evaluation */
  trainer_workers workers;
} trainer_line;

/* One of the slowest steps of the job. */
typedef struct slow_line {
  uint32_t process;
  const slow_step *step;
  enum time_class reason; /* what takes most time beyond its mean of all steps of this trainer */
} slow_line;

typedef struct trainer_list {
  trainer_line *lines; /* the one that waits for the largest share of its loop comes first */
  uint32_t count;
  histogram durations;             /* of the steps of all trainers */
  uint64_t class_ns[TIME_CLASSES]; /* the same */
  slow_line slowest[SLOW_STEPS];   /* the slowest first */
  uint32_t slow_count;
} trainer_list;

/* Of a sorted state. 0: no memory, or the spill cannot be read. */
int trainer_list_init(trainer_list *list, summary_state *state);
void trainer_list_free(trainer_list *list);

#endif
