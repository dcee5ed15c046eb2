/* summary_job_json.h - the summary for programs: the job as a whole, as members of a JSON object.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SUMMARY_JOB_JSON_H
#define DFTRACER_SUMMARY_JOB_JSON_H

#include <stdio.h>

#include "command/summary/answer/answer.h"

void summary_json_job(FILE *out, const summary_answer *answer);
/* The members "rank" and "command" of a process. */
void summary_json_process(FILE *out, const summary_state *state, uint32_t process);
void summary_json_regions(FILE *out, const summary_answer *answer);
void summary_json_communication(FILE *out, const summary_answer *answer);

#endif
