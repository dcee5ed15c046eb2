/* account.h - counts what depends on the order of events: self times, sequences of I/O calls, steps, and what each process
 * did. Events of one source come in the order of its file, from one thread at a time.
 *
 * Counts go into the processes and threads of the source, and into a tally of its own, so they can be discarded: a source
 * whose lines are further out of order than the window allows is marked as disordered, read again and sorted (resort.c).
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_ACCOUNT_H
#define DFTRACER_ACCOUNT_H

#include "analysis.h"

/* `number` is that of the source in the reader. In each, counts->is_good says whether memory sufficed. */

void account_events(analysis *shared, tally *counts, uint32_t number, const moment *events, uint32_t count);
/* An event that comes in the order of moment.h. */
void account_sorted(analysis *shared, tally *counts, uint32_t number, const moment *event);
/* Counts the events that were held back, and merges what the source had into `counts`, or discards it. There are no more
 * events. */
void account_source_end(analysis *shared, tally *counts, uint32_t number);

#endif
