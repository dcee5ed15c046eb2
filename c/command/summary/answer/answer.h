/* answer.h - a sorted state as ordered lists and labels, for printing in any form. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_ANSWER_H
#define DFTRACER_ANSWER_H

#include "collectives.h"
#include "iofolder.h"
#include "jobfacts.h"
#include "processlabel.h"
#include "rankregions.h"
#include "runs.h"
#include "training.h"

/* What is printed of a state, besides its lists. */
typedef struct summary_answer {
  summary_state *state;
  const run_list *runs;
  uint32_t processes, threads;           /* with an event in the time that was asked for */
  uint64_t grain_ns;                     /* durations are multiples of it */
  uint64_t unit_ns;                      /* the coarsest unit of time of any trace */
  uint64_t job_ns;                       /* from the first start to the last end */
  uint64_t thread_ns;                    /* of all threads, also the following */
  uint64_t region_ns, process_ns, io_ns; /* self times; process_ns: of calls on processes */
  uint64_t covered_ns, outside_ns;       /* what events cover: the sum of these; and what they do not */
  uint64_t calls;                        /* of all processes */
  io_stats io;                           /* of all processes */
  uint64_t reading_ns, writing_ns;       /* the time in which any process did */
  training_totals training;
  job_facts facts;
  collective_list collectives;
  rank_region_list rank_regions;
  io_folder folders[IO_COSTS]; /* by io_cost */
} summary_answer;

/* Sorts the state. 0: no memory, or the spill cannot be read. */
int answer_init(summary_answer *answer, summary_state *state, const run_list *runs);
void answer_free(summary_answer *answer);

/* One line of the table of events. */
typedef struct answer_group {
  uint32_t number;
  const group_stats *stats;
} answer_group;

/* One line of a table of I/O. */
typedef struct answer_io {
  uint32_t number; /* of the file, or the process */
  const io_stats *stats;
} answer_io;

/* The caller frees the lists. NULL, with a count of 0: no memory. Lines that are equal in what they are sorted by come in the
 * order of the state. */

answer_group *answer_groups(const summary_state *state, uint32_t *count); /* most self time first */
answer_io *answer_files(const summary_state *state, uint32_t *count);     /* most time in calls first */
answer_io *answer_processes(const summary_state *state, uint32_t *count); /* most time in calls first */

/* One line of the table of calls that failed. */
typedef struct answer_failure {
  uint32_t name, file; /* a text; the hash of a file */
  uint64_t error;      /* errno; 0: not known */
  uint64_t count;
} answer_failure;
answer_failure *answer_failures(const summary_state *state, uint32_t *count); /* most calls first */

/* A text of the state, or one that was put together. It may contain zeros. */
typedef struct answer_label {
  dft_text text;
  char room[LABEL_BYTES];
} answer_label;
/* The two texts that identify a group: name and category; file; process; thread and process; step and epoch; rank. */
void answer_group_labels(const summary_state *state, uint32_t group, answer_label *one, answer_label *two);
void answer_process_label(const summary_state *state, uint32_t number, answer_label *label);
dft_text answer_file(const summary_state *state, uint32_t file);
dft_text answer_file_of(const summary_state *state, uint32_t hash);
/* The titles of these texts, for the question's --by. The second may be NULL. */
void answer_titles(uint32_t by, const char **one, const char **two);

#endif
