/* rankends.h - ranks that are done before the others: those that have ended, or wait in MPI_Finalize.
 *
 * A rank that has ended waits until the last one has, because the job lasts as long. This is only said of ranks that ran at
 * the same time, and that ended by themselves within the time that was asked for. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_RANKENDS_H
#define DFTRACER_RANKENDS_H

#include "costs.h"

/* Adds these waits to the ranks, and to their times. 0: no memory, or the spill cannot be read. */
int rank_ends_measure(job_costs *costs, const summary_answer *answer);

#endif
