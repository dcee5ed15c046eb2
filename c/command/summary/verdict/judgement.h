/* judgement.h - the verdict and the findings of a job, made and printed. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_JUDGEMENT_H
#define DFTRACER_JUDGEMENT_H

#include "verdict.h"

typedef struct judgement {
  job_costs costs;
  measure_list measures;
  finding_list findings;
  job_verdict verdict;
  const char *silence; /* why there is no verdict, if it is because of what was asked for; else NULL */
} judgement;

/* 0: no memory, or the spill cannot be read. Free it in any case. */
int judgement_make(judgement *made, summary_answer *answer);
void judgement_free(judgement *made);

#endif
