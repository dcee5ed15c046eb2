/* verdict_cause.h - why a cost is there: what coincides with at least 80 % of it. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_VERDICT_CAUSE_H
#define DFTRACER_VERDICT_CAUSE_H

#include "verdict.h"

/* Sets the cause. 0: no memory. */
int verdict_find_cause(job_verdict *verdict, const summary_answer *answer, const job_costs *costs,
                       const measure_list *measures);

#endif
