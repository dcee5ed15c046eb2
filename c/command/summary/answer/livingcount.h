/* livingcount.h - how many processes and threads the traces of one run are of.
 *
 * A process may write several traces, one after the other: a cell of a notebook that runs again. So traces of one run id with
 * the same host and pid are of one process, unless they overlap in time: then these are pids of different containers. Without
 * an id nobody knows, and each trace is of a process of its own. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_LIVINGCOUNT_H
#define DFTRACER_LIVINGCOUNT_H

#include "command/summary/state/summarystate.h"

/* Adds those with an event in the time that was asked for. 0: no memory. */
int living_count(const summary_state *state, uint32_t *processes, uint32_t *threads);

#endif
