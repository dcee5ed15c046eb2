/* phasecause.h - what takes the time before the loop, or after it: one thing that explains at least 80 %.
 *
 * That is calls of one kind, a region, communication, or that nothing is known of it. What the others wait for while one rank
 * does it, counts with it. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_PHASECAUSE_H
#define DFTRACER_PHASECAUSE_H

#include "verdict.h"

/* Sets the cause, or nothing. 0: no memory. */
int phase_cause_find(verdict_cause *cause, const summary_answer *answer, const job_costs *costs, enum time_phase phase);
/* The same as measures. 0: no memory. */
int phase_cause_measure(measure_list *list, const summary_answer *answer, const job_costs *costs,
                        enum time_phase phase);

#endif
