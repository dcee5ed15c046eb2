/* processfacts.h - what the events `start` and `end` of a process say. Older traces, and those of others, say less: then a
 * number is 0. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_PROCESSFACTS_H
#define DFTRACER_PROCESSFACTS_H

#include <stdint.h>

/* Texts are numbers of names of the reader while traces are read, and of texts in a state; 0: none. */
typedef struct process_facts {
  uint64_t is_started, is_ended; /* there is an event `start`, an event `end` */
  uint64_t world_size;           /* of MPI, or of another launcher */
  uint32_t has_cost;             /* the following three are told */
  uint64_t finish_ns, drain_cpu_ns, assist_ns;
  uint64_t age_ns;                       /* of the process when its trace opened; 0: not known */
  uint64_t unmatched_ends, open_regions; /* ends without a begin; regions that never ended */
  uint32_t unmatched_sites, open_sites;  /* the first ten, joined */
} process_facts;

#define PROCESS_FACTS_NUMBERS(facts)                                                                           \
  &(facts)->is_started, &(facts)->is_ended, &(facts)->world_size, &(facts)->finish_ns, &(facts)->drain_cpu_ns, \
    &(facts)->assist_ns, &(facts)->age_ns, &(facts)->unmatched_ends, &(facts)->open_regions
#define PROCESS_FACTS_TEXTS(facts) &(facts)->unmatched_sites, &(facts)->open_sites

#endif
