/* splitting.h - splits the time of a process when all its events are known. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SPLITTING_H
#define DFTRACER_SPLITTING_H

#include "analysis.h"

/* Fills in the loop, split_ns, steps and grains of the process, and its share of the epochs in `counts`. The threads of the process
 * begin with process->first_thread. Frees their lines. 0: no memory, or no room for the spill. */
int split_process(analysis *shared, tally *counts, traced_process *process);

#endif
