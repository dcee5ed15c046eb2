/* answer.h - the results of a job as lists in a sensible order, for printing in one form or another.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_ANSWER_H
#define DFTRACER_ANSWER_H

#include "job.h"

#define LABEL_BYTES 512

/* One line of a table of events. */
typedef struct answer_group {
  uint32_t number;
  const group_stats *stats;
} answer_group;

/* One line of a table of I/O. */
typedef struct answer_io {
  uint32_t number; /* of the file, or the process */
  const io_stats *stats;
} answer_io;

/* How a training went, over all processes. */
typedef struct answer_training {
  uint64_t processes; /* trainers: that computed or fetched */
  uint64_t epochs, steps;
  uint64_t count[AI_KINDS], ns[AI_KINDS]; /* call times added up */
  uint64_t compute_ns, fetch_ns, data_ns; /* time in which a trainer or one of its workers was at it, added up */
  uint64_t wait_ns;                       /* fetching while nothing computes */
  uint64_t hidden_ns;                     /* loading while something computes */
  uint64_t closed_ns;                     /* by how much the last five may be too large */
} answer_training;

/* One line of the table of epochs. */
typedef struct answer_epoch {
  int64_t epoch;
  const epoch_stats *stats;
} answer_epoch;

/* Lists are freed by the caller; NULL when there is no memory, or nothing in them. By self time, the most first. */
answer_group *answer_groups(const job *of, uint32_t *count);
/* By time in calls, the most first. */
answer_io *answer_files(const job *of, uint32_t *count);
answer_io *answer_processes(job *of, uint32_t *count);
io_stats answer_all_io(job *of);
uint32_t answer_process_count(job *of); /* with an event in the time that was asked for */
/* The longest time between the first event and the last in which no thread was there: before another run, most likely. */
uint64_t answer_pause_ns(job *of);

/* ---- training.c ---- */
/* 0: it is no trace of a training. */
int answer_train(job *of, answer_training *all);
/* In the order of their numbers. */
answer_epoch *answer_epochs(const job *of, uint32_t *count);

/* The two texts that say what a group is: name and category; file; host:pid; thread and process; epoch and step. */
void answer_label(job *of, uint32_t number, char one[LABEL_BYTES], char two[LABEL_BYTES]);
void answer_process_label(job *of, uint32_t number, char label[LABEL_BYTES]);
dft_text answer_file(job *of, uint32_t file);
/* The titles of these texts, for the question's --by; the second may be NULL. */
void answer_titles(int by, const char **one, const char **two);

#endif
