/* taking.h - publishes the trace of a process that may be alive, so that it can go on.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_TAKING_H
#define DFT_TAKING_H

#include "spool/spool.h"

/* Takes the spool, and makes a copy of it that holds what its process has recorded so far: close it with dft__taking_drop. */
dft_status dft__taking_begin(dft__spool *spool, dft__spool *copy);
void dft__taking_drop(dft__spool *copy);

/* The outputs hold all of the copy: only publishing is left. */
void dft__taking_complete(dft__spool *spool, const dft__spool *copy);

/* Whether a recovery got so far, and died. */
int dft__taking_is_complete(const dft__spool *spool);

/* What there was is published. What the process records from now on, or has recorded since, is another trace. */
void dft__taking_end(dft__spool *spool, int has_published);

/* Whether the process, if it is alive, has had time to go on since something of it was taken. */
int dft__taking_is_long_ago(const dft__spool *spool);

#endif
