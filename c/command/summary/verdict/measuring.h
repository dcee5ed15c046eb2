/* measuring.h - takes the measures of a job. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_MEASURING_H
#define DFTRACER_MEASURING_H

#include "costs.h"
#include "measures.h"

/* 0: no memory. */
int measures_take(measure_list *list, const summary_answer *answer, const job_costs *costs);

#endif
