/* summary_json.h - the summary for programs. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SUMMARY_JSON_H
#define DFTRACER_SUMMARY_JSON_H

#include <stdio.h>

#include "command/summary/answer/answer.h"

void summary_json(FILE *out, const summary_answer *answer); /* everything */
void summary_csv(FILE *out, const summary_answer *answer);  /* the table of events */

#endif
