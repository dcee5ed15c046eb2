/* answer.h - the totals as ordered lists and labels, for printing in any form. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_ANSWER_H
#define DFTRACER_ANSWER_H

#include "totals.h"

#define LABEL_BYTES 512

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

/* One line of the table of epochs. */
typedef struct answer_epoch {
  int64_t epoch;
  const epoch_stats *stats;
} answer_epoch;

/* The caller frees the lists. NULL, with a count of 0: no memory. */

answer_group *answer_groups(const trace_totals *totals, uint32_t *count); /* most self time first */
answer_io *answer_files(const trace_totals *totals, uint32_t *count);     /* most time in calls first */
answer_io *answer_processes(const trace_totals *totals, uint32_t *count); /* most time in calls first */
answer_epoch *answer_epochs(const trace_totals *totals, uint32_t *count); /* by number of the epoch */

io_stats answer_all_io(const trace_totals *totals); /* the caller frees sizes */
/* Processes with an event in the time that was asked for. */
uint32_t answer_process_count(const trace_totals *totals);
/* The longest time between the first event and the last in which no thread existed. Most likely the traces are of two runs. */
uint64_t answer_pause_ns(const trace_totals *totals);

/* The two texts that identify a group: name and category; file; process; thread and process; step and epoch. */
void answer_label(const trace_totals *totals, uint32_t group, char one[LABEL_BYTES], char two[LABEL_BYTES]);
void answer_process_label(const trace_totals *totals, uint32_t number, char label[LABEL_BYTES]);
dft_text answer_file(const trace_totals *totals, uint32_t file);
/* The titles of these texts, for the question's --by. The second may be NULL. */
void answer_titles(int by, const char **one, const char **two);

#endif
