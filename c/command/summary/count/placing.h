/* placing.h - counts what belongs to which epoch and step, when all events of a process are known.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_PLACING_H
#define DFTRACER_PLACING_H

#include "analysis.h"

/* Also the steps, evaluations and pauses of the process, and the end of its loop. In `counts`, is_good says whether memory
 * sufficed. */
void place_events(analysis *shared, tally *counts, traced_process *process);

#endif
