/* slowestrank.h - the rank that all others wait for, directly or by way of each other.
 *
 * Neighbours that exchange their borders wait for the slow rank, come late to their own neighbours, and so on: each causes
 * what the next one waits. But if a single rank hardly communicates, and never waits, its work is all that the job takes.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SLOWESTRANK_H
#define DFTRACER_SLOWESTRANK_H

#include "costs.h"

/* Of what is known of the waiting in loops: if there is such a rank, it caused all but what may have come together with its own
 * communication. */
void slowest_rank_blame(job_costs *costs);

#endif
