/* drain.h - from the spool to the sinks, in the living process: one background thread, helped by recording threads when the
 * spool is full, and by dft_stop at the end.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_DRAIN_H
#define DFT_DRAIN_H

#include "output.h"

/* A session opened. No thread runs yet. when_idle, unless it is NULL, is called once on the drain's thread, with the folder of
 * the trace, when that thread first has nothing to do. renew_claim makes the claim again when a
 * recovery has taken the trace (output.h). */
dft_status dft__drain_begin(dft__spool *spool, void (*when_idle)(const char *folder),
                            int (*renew_claim)(const dft__spool *spool));

/* Cells of records became ready. Starts the thread when there are enough for a batch. Called with signals blocked; `signals`
 * is what the program has blocked. Nothing happens when the spool's session has ended. */
void dft__drain_notify(const dft__spool *spool, uint32_t cells, uint64_t signals);

/* The spool is full: a chunk for a record of so many cells, after helping or waiting; NULL when that took too long. Called
 * with signals blocked; `signals` is what the program has blocked. */
dft__chunk *dft__drain_make_room(dft__spool *spool, uint32_t cells, uint64_t signals);

/* Nonzero when the session ends: whatever the thread does besides should stop. */
int dft__drain_is_ending(void);

/* Nonzero when the opening lines are written, or about to be. */
int dft__drain_has_begun(void);

/* Ends the thread, writes everything that is left, and closes the sinks. *is_complete: the trace is whole, or empty. */
dft_status dft__drain_end(int *is_complete);

/* Afterwards: the outputs, to be published. */
const dft__outputs *dft__drain_outputs(void);

/* In a forked child, at once: a call that the fork interrupted must not write the parent's output. */
void dft__drain_disown(void);

/* In a forked child: forgets the drain of the parent. */
void dft__drain_forget(void);

#endif
