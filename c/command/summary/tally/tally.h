/* tally.h - counts that can be merged: each worker has one, and in the end they become one.
 *
 * The numbers of groups are those of the analysis, the numbers of files those of the reader, so they mean the same in every
 * tally. A tally has entries only for those it counted. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TALLY_H
#define DFTRACER_TALLY_H

#include "commcounts.h"
#include "iostat.h"
#include "timesplit.h"

#define NO_GROUP UINT32_MAX
#define NO_NUMBER INT64_MIN /* an epoch, step or rank that is not given */

/* One line of the table of events. */
typedef struct group_stats {
  uint64_t total_ns, self_ns;
  histogram durations;
} group_stats;

/* Calls of one name. */
typedef struct call_stats {
  uint64_t count, ns, failed, failed_ns;
  uint32_t class_number; /* while traces are read */
} call_stats;
#define CALL_STATS_NUMBERS (offsetof(call_stats, class_number) / sizeof(uint64_t)) /* its first members */

typedef struct epoch_stats {
  uint64_t fetches, computes;
  uint64_t fetch_ns, compute_ns;   /* time in which at least one thread of a trainer did it */
  int64_t first, last;             /* first > last: no event tells of it, only times */
  uint64_t steps;                  /* of all trainers, as the following */
  uint64_t batches;                /* fetches outside of evaluations, as the following */
  uint64_t samples, sampled;       /* in the batches that tell it; how many these are */
  uint64_t class_ns[TIME_CLASSES]; /* in the epoch, without evaluation: timesplit.h */
  uint64_t evaluation_ns;
} epoch_stats;

typedef struct tally {
  numbering group_numbers; /* of groups; group 0: those for which there was no room */
  group_stats *groups;     /* by number in group_numbers */
  uint32_t group_capacity;
  numbering file_numbers; /* of a file and, in the tally of a source, a process; file 0: calls without a file */
  io_stats **files;       /* NULL: none */
  uint32_t file_capacity;
  call_stats *calls; /* by event_class.call */
  uint32_t call_capacity;
  numbering failure_numbers; /* of calls that failed: class << 32 | file, errno */
  uint64_t *failures;        /* how many */
  uint32_t failure_capacity;
  numbering epoch_numbers;
  epoch_stats *epochs;
  uint32_t epoch_capacity;
  numbering comm_numbers; /* of processes that communicated */
  comm_counts *comms;
  uint32_t comm_capacity;
  uint32_t last_comm; /* that was asked for last; 0: none */
  uint64_t events, counters, metadata, others;
  uint64_t lost_fetches;       /* notes in the traces that fetches are missing */
  uint64_t dropped, recovered; /* events that were dropped; traces that were recovered */
  uint64_t left;               /* spools of processes that died, which nobody has recovered yet */
  int64_t first, last;         /* the first start and the last end; first > last: no event */
  uint64_t fractions;          /* not 0: some durations are not whole microseconds */
  int is_good;                 /* 0: no memory, and the counts are incomplete */
} tally;

/* Adds an event. 0: no memory. */
int group_stats_add(group_stats *group, uint64_t time_ns, uint64_t self_ns);
/* Adds `from`, whose histogram is freed: there may be many. 0: no memory. */
int group_stats_merge(group_stats *into, group_stats *from);
void call_stats_merge(call_stats *into, const call_stats *from);
void epoch_stats_merge(epoch_stats *into, const epoch_stats *from);

void tally_init(tally *counts);
void tally_free(tally *counts);

/* Without memory, these clear is_good. */

/* An event of the group: its duration, then, when it is known, its self time. */
void tally_add_duration(tally *counts, uint32_t group, uint64_t time_ns);
void tally_add_self(tally *counts, uint32_t group, uint64_t self_ns);
/* What a process did with a file: the entry that counts it. NULL: no memory. */
io_stats *tally_file(tally *counts, uint32_t file, uint32_t process);
/* A call, as one of its name, and, if it failed, as one of its file and errno. */
void tally_add_call(tally *counts, const event_class *class, const moment *event);
/* NO_NUMBER: the epoch is not known. NULL: no memory. */
epoch_stats *tally_epoch(tally *counts, int64_t epoch);
/* How a process communicated. NULL: no memory. */
comm_counts *tally_comm(tally *counts, uint32_t process);
void tally_add_time(tally *counts, int64_t start, int64_t end);
/* Adds all of `from`, whose histograms are freed: there may be many. */
void tally_merge(tally *into, tally *from);

#endif
