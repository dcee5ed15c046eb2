/* costcount.h - counts what the ranks of a job spent their time on. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_COSTCOUNT_H
#define DFTRACER_COSTCOUNT_H

#include "costs.h"

extern const char *const cost_names[COSTS];

/* The I/O call of this kind that took most time; empty: there is none. */
dft_text costs_call(const summary_answer *answer, enum io_cost kind, double *share); /* of the time of its kind */

/* All but what inputwait.h adds. 0: no memory. */
int costs_count(job_costs *costs, const summary_answer *answer);
void costs_free(job_costs *costs);

#endif
