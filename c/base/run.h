/* run.h - which run this process belongs to.
 *
 * A run is what was started together: the ranks of one launch, or everything below the first process that was started with
 * tracing on. The first of these decides:
 *
 *   1. DFTRACER_RUN_ID, which dftracer run sets, and anybody may.
 *   2. What the launcher calls the launch (rank.c), if it has several ranks.
 *   3. If it has no name for it: the launcher itself, the nearest ancestor without a rank.
 *   4. Otherwise the farthest ancestor that was started with tracing on. Between them all were, and no shell of a terminal
 *      started a job.
 *
 * 3 and 4 read the environment that each ancestor was started with, so nothing must be handed on, and it does not matter
 * which of the processes records, or still lives. Forked children keep what their parent found.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_RUN_H
#define DFT_RUN_H

#include <stddef.h>

#include "identity.h"

/* Fills in the id, terminated. `own` is the caller's identity. Needs some KiB of the stack. */
void dft__run_find(char *id, size_t size, const dft__identity *own);

#endif
