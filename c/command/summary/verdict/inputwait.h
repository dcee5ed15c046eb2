/* inputwait.h - what happens while a trainer waits for data: reads, writes and other I/O calls of itself and of its workers, or
 * loading at all. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_INPUTWAIT_H
#define DFTRACER_INPUTWAIT_H

#include "costs.h"

/* Sets what each rank waited for data, and what happened meanwhile. 0: no memory, or the spill cannot be read. */
int inputwait_measure(job_costs *costs, summary_state *state);

#endif
