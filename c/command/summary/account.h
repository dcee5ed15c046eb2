/* account.h - counts what depends on the order of events: self times, sequences of I/O calls, steps, and what each process
 * did. Events of one source come in the order of its file, from one thread at a time. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_ACCOUNT_H
#define DFTRACER_ACCOUNT_H

#include "analysis.h"

/* Counts into the shared processes and threads, and into the caller's own tally, whose is_good says whether memory sufficed. */
void account_events(analysis *shared, tally *counts, uint32_t source, const moment *events, uint32_t count);
/* Counts the events that were held back. The source has no more. */
void account_source_end(analysis *shared, tally *counts, uint32_t source);

#endif
