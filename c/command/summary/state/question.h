/* question.h - what the user asked the summary for. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_QUESTION_H
#define DFTRACER_QUESTION_H

#include <stdint.h>

enum question_by { BY_NAME, BY_FILE, BY_PROCESS, BY_THREAD, BY_STEP, BY_RANK, BY_COUNT };

typedef struct summary_question {
  int by;                 /* question_by */
  int64_t from_ns, to_ns; /* events that start in this time, relative to the start of the traces */
  int has_from, has_to;
  const char *const *names; /* patterns; the tables show the events that match one pattern of each list */
  int name_count;
  const char *const *cats;
  int cat_count;
  int threads; /* that read */
} summary_question;

#endif
