/* costs.h - what the ranks of a job spent their time on, and what of it could be saved.
 *
 * The ranks that count are the trainers of a training. Otherwise, of each rank, it is the process that did most; without ranks,
 * every process that did at least a tenth of what the busiest did. Launchers and shells that only wait are left out.
 *
 * Times of ranks are means; those of several processes without ranks are sums, because they may run one after the other.
 *
 * Times come from the split of each process (timesplit.h), so they are lengths of intervals and add up to the time of the
 * process. The time that a rank waits for others is imbalance: in a collective until the last one has come, for a message
 * until it is sent, and after its end until the last one has ended. The rest of its communication is communication.
 * If most of the waiting of a training is for a rank that saves a checkpoint, this part of it is checkpoint.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_COSTS_H
#define DFTRACER_COSTS_H

#include "command/summary/answer/answer.h"
#include "command/summary/answer/iofolder.h"

/* What a job can be bound by. The I/O costs come last, and are one class. */
enum cost {
  COST_COMPUTE,
  COST_INPUT,
  COST_COMM,
  COST_CHECKPOINT,
  COST_IMBALANCE,
  COST_START,
  COST_READ,
  COST_WRITE,
  COST_SYNC,
  COST_META,
  COST_TRANSFER,
  COST_COMPILE,
  COST_FINAL, /* in MPI_Finalize, without waiting for others; of a training, it is not in the loop */
  COST_OTHER,
  COSTS
};

/* How a rank waits for others: imbalance is the sum. */
enum rank_wait {
  WAIT_COLLECTIVE, /* the last one to come */
  WAIT_MESSAGE,    /* a message that is sent late */
  WAIT_END,        /* it has ended, or is in MPI_Finalize, and others still work */
  WAITS
};

/* One rank. */
typedef struct rank_costs {
  uint32_t process;
  int64_t rank; /* NO_NUMBER: it has none */
  int has_communicated;
  double all_ns;          /* from its first event to its last; of a job, to that of the last rank */
  double base_ns;         /* what shares are of: the training loop, or all of its time */
  double ns[COSTS];       /* in the base; COST_START: of all of its time */
  double waits[WAITS];    /* of COST_IMBALANCE */
  double unsure_ns;       /* of COST_COMM: waits that are shorter than the clocks of the nodes agree, at most */
  double in_sends_ns;     /* of COST_COMM: in sends for which the receiver was late, at most */
  double doubtful_ns;     /* of COST_COMM: in calls of which it is not known how much is waiting, such as sends */
  double caused_ns;       /* what others waited for it, alone, in their loops and after them; */
  double end_caused_ns;   /* after them; */
  double start_caused_ns; /* and before them */
  double end_ns;          /* after the loop */
  double final_ns;        /* in MPI_Finalize, also waiting */
  double aside_ns
    [ASIDES]; /* of its I/O, saving and communication: that of other threads, while the main one is in nothing known */
  double io_ns[IO_COSTS];       /* in such calls or regions and in nothing else, in all of its time; */
  double call_ns[IO_COSTS];     /* of this: in calls, if as much of them is behind compute as of the regions */
  double waited_with[IO_COSTS]; /* of its waiting for data: while it or its workers were in such calls */
  double waited_ns;             /* all of its waiting for data, but in evaluations */
  double waited_in_calls;       /* while they were in any of these calls */
  double waited_loading;        /* and while they loaded at all */
  double waited_starting;       /* while its loaders and workers began or ended */
} rank_costs;

/* How long processes without ranks ran. */
typedef struct process_lives {
  int is_known;      /* there are several, and they are no training */
  uint32_t longest;  /* the process that lasts longest, */
  double longest_ns; /* how long, */
  double others_ns;  /* and the others, mean */
  double covered_ns; /* any of them runs */
} process_lives;

typedef struct job_costs {
  rank_costs *ranks;
  uint32_t count;
  uint32_t divisor; /* of sums: count, or 1 for processes without ranks */
  process_lives lives;
  int is_training;
  uint32_t others;        /* of a training: ranks that do not train */
  uint32_t beside;        /* of another job: busy processes without a rank, where others have one */
  int is_inference;       /* of a training: there are only evaluations */
  int is_input_known;     /* fetches were recorded */
  int is_imbalance_known; /* arrivals at collectives could be compared, or there is only one rank */
  double base_ns;         /* mean of the ranks, or sum of the processes, also the following */
  double job_ns;
  double ns[COSTS];
  double waits[WAITS];
  double balanced_ns; /* what a rank would take of base_ns, if those that work shared it evenly: */
  double least_ns;    /* the same if all that is doubtful is waiting; */
  uint32_t workers;   /* so many */
  double end_ns;
  dft_text final_name; /* MPI_Finalize, or what the user calls so; empty: there is none */
  double unsure_ns, in_sends_ns;
  double doubtful_ns;
  int is_all_doubtful; /* collectives could not be compared, either: they are doubtful as well */
  double aside_ns[ASIDES];
  int64_t saving_rank;      /* the others wait while it saves; NO_NUMBER: none, or something else makes them wait */
  double waited_for_saving; /* that waiting, which is part of the checkpoint; mean */
  double hidden_ns;         /* I/O calls of threads while other threads are in regions, at most */
  int has_calls;            /* of a training: I/O calls of trainers or their workers were recorded */
  int is_coarse;            /* waited_with is not exact: there were too many calls */
} job_costs;

#endif
