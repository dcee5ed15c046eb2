/* verdict_advice.h - what to do about a verdict. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_VERDICT_ADVICE_H
#define DFTRACER_VERDICT_ADVICE_H

#include <stdio.h>

#include "verdict.h"

/* A sentence without its full stop; nothing, if no cost is dominant. */
void verdict_advise(FILE *out, const job_verdict *verdict, const summary_answer *answer, const job_costs *costs,
                    const measure_list *measures, const finding_list *found);

#endif
