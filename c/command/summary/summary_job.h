/* summary_job.h - the summary for people: the job as a whole. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SUMMARY_JOB_H
#define DFTRACER_SUMMARY_JOB_H

#include <stdio.h>

#include "command/summary/answer/answer.h"

/* The first lines, and the list of runs if there are several. Tables have at most `top` lines. */
void summary_head(FILE *out, const summary_answer *answer, uint32_t top);

#endif
