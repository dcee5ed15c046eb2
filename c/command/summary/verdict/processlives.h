/* processlives.h - how long the processes of a job without ranks ran: one after the other, at once, or not all the time.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_PROCESSLIVES_H
#define DFTRACER_PROCESSLIVES_H

#include "costs.h"

/* 0: no memory. */
int process_lives_measure(process_lives *lives, const job_costs *costs, const summary_state *state);

#endif
