/* jobfacts.h - what the traces of a job say of it: ranks without a trace, what tracing cost, regions that do not match.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_JOBFACTS_H
#define DFTRACER_JOBFACTS_H

#include "command/summary/state/summarystate.h"

/* Ranks that have no trace: first to last. */
typedef struct rank_gap {
  uint64_t first, last;
} rank_gap;

/* A place in the program, and how many processes name it. */
typedef struct named_site {
  char *site;
  uint64_t processes;
} named_site;

typedef struct site_list {
  uint64_t events;    /* how often it happened */
  uint64_t processes; /* in how many processes */
  named_site *sites;  /* the most frequent first; each process names its first ten */
  uint32_t count;
} site_list;

typedef struct job_facts {
  uint64_t world_size; /* 0: not known */
  rank_gap *gaps;
  uint32_t gap_count;
  uint64_t missing_ranks;
  uint64_t costed; /* processes that say what tracing cost */
  uint64_t finish_ns, finish_most_ns, drain_cpu_ns, assist_ns;
  site_list unmatched, open;
  uint64_t unfinished; /* processes that began, but whose trace has no end */
  uint64_t orphans;    /* workers whose trainer is not there, so that --by step does not know their steps */
} job_facts;

/* has_ranks: whether the ranks are those of one run. 0: no memory. */
int job_facts_init(job_facts *facts, const summary_state *state, int has_ranks);
void job_facts_free(job_facts *facts);

#endif
