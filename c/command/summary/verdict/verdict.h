/* verdict.h - what bounds the job, why, and how much time is at stake.
 *
 * The policy: a cost below 5 % is not mentioned. The largest cost is the verdict if it is 10 % or more, and at least 5 % more
 * than the next one; from 20 % on it is critical. If others are as large, they are tied. Without such a cost, the job is bound by
 * compute if that is 90 % or more of what follows the start-up. A cause is named only if it explains 80 % of the cost.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_VERDICT_H
#define DFTRACER_VERDICT_H

#include "findings.h"

#define SHARE_MENTIONED 0.05
#define SHARE_WARNING STAKE_WARNING
#define SHARE_CRITICAL STAKE_CRITICAL
#define SHARE_COMPUTE 0.90
#define SHARE_CAUSE 0.80
#define SHARE_ALL 0.995    /* rounded, it is all */
#define LIVES_DIFFER 2.0   /* a process that lasts so much longer than the others on average is no mean */
#define SHARE_MOST 0.50    /* of what has one cause, which is not the work itself */
#define SHARE_UNKNOWN 0.20 /* of a training loop: in no region or call; of compute: in regions without a meaning */
#define STEPS_SURE 20u     /* steps of a training; events of another job */

enum verdict_class {
  BOUND_NONE,
  BOUND_INPUT,
  BOUND_COMPUTE,
  BOUND_COMM,
  BOUND_CHECKPOINT,
  BOUND_IO,
  BOUND_IMBALANCE,
  BOUND_START,
  BOUND_CLASSES
};

/* What coincides with the cost. */
typedef struct verdict_cause {
  const char *what; /* a word for programs: read, write, metadata, loading, region ...; NULL: no cause is known */
  double share;     /* of the cost */
  int is_about;     /* the share is not exact */
  char *call;       /* the I/O call or region; NULL: none. Allocated, also the following */
  char *folder;     /* NULL: none */
  char *file;       /* if it is only one; otherwise NULL */
  uint64_t files;   /* 0: none */
  double file_bytes;
  int64_t rank; /* only this one does it, and the others wait for it; NO_NUMBER: none. Of BOUND_START */
} verdict_cause;

typedef struct job_verdict {
  int exists; /* 0: nothing is known that could be judged */
  enum verdict_class class;
  const char *io_kind; /* of BOUND_IO: read, write, sync, metadata, or mixed; else NULL */
  int is_sure;
  int is_guess; /* imbalance, by regions: no communication was recorded */
  /* Of BOUND_NONE: the largest costs, if the first could be the verdict; all 0: there are none. */
  int is_tied[BOUND_CLASSES];
  double aside_ns;   /* of ns: other threads do it, and whether the main thread waits for them is not known */
  int is_aside;      /* that is much of it */
  int is_joint;      /* it is a call of MPI-IO in which ranks may wait for the straggler, or for this rank, */
  int64_t idle_rank; /* which is in no region and no call before it; NO_NUMBER: there is none */
  double share, ns, of_ns;
  double best_ns;     /* what would be left of of_ns, at best */
  int64_t worst_rank; /* NO_NUMBER: there is none */
  double worst_share;
  int is_worst_told; /* it differs from the others; of imbalance: who causes it, or that no single rank does */
  /* Of imbalance, if the worst rank alone does not explain it, but two do: the other one; else NO_NUMBER. */
  int64_t second_rank;
  double second_share;
  verdict_cause cause;
  char *text, *next; /* allocated */
  char *evidence;    /* lines; allocated */
} job_verdict;

/* All but the cause (verdict_cause.h) and the sentences (verdict_words.h). */
void verdict_make(job_verdict *verdict, const summary_answer *answer, const job_costs *costs,
                  const measure_list *measures);
/* Before anything is said: the time that others probably wait for a rank is imbalance, and nothing else. */
void verdict_move_guess(const job_verdict *verdict, job_costs *costs, const measure_list *measures);
void verdict_free(job_verdict *verdict);
void verdict_cause_free(verdict_cause *cause);
extern const char *const verdict_words[BOUND_CLASSES]; /* for programs */
/* Of a training: much of its loop, or more than the cost, is outside of all regions and calls. */
int verdict_is_much_unknown(const job_costs *costs);
/* The job would be clearly shorter if ranks shared their work evenly. If not, their waiting is no cost. */
int verdict_sharing_saves(const job_costs *costs);
/* At least half of it is loading, by the trainers themselves and outside of fetches. */
int verdict_loads_in_loop(const summary_answer *answer, const job_costs *costs, const measure_list *measures);
/* Of processes without ranks: one lasts much longer than the others; for much of the job, none of them runs. */
int verdict_lives_differ(const job_costs *costs);
/* Of a training: those of the trainer with the least. Some may have none that are known, such as those that get their batches from
 * another one. */
uint64_t verdict_steps(const summary_answer *answer);
/* Much of the communication may be waiting, because the clocks of nodes do not agree well enough. */
int verdict_clocks_differ(const job_costs *costs);
/* Much of the communication is in sends for which the receiver may have been late. */
int verdict_receivers_are_late(const job_costs *costs);
int verdict_has_gaps(const job_costs *costs, const summary_answer *answer);
/* The share of a cost, whatever the verdict is. */
double verdict_share(const job_costs *costs, enum verdict_class class);

#endif
