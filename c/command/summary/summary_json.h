/* summary_json.h - the summary for programs. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SUMMARY_JSON_H
#define DFTRACER_SUMMARY_JSON_H

#include <stdio.h>

#include "command/summary/verdict/judgement.h"

void summary_json(FILE *out, const summary_answer *answer, const judgement *made); /* everything */
void summary_csv(FILE *out, const summary_answer *answer);                         /* the table of events */

#endif
