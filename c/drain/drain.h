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

/* For when_idle, which may take long: writes what has become ready meanwhile. Nonzero when the session ends. */
int dft__drain_serve(void);

/* Cells of records became ready. Starts the thread when there are enough for a batch, or DFTRACER_ON_FULL=wait. Called with signals blocked; `signals`
 * is what the program has blocked. Nothing happens when the spool's session has ended. */
void dft__drain_notify(const dft__spool *spool, uint32_t cells, uint64_t signals);

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

/* For producers that wait for room (room.c). Signals are blocked. */

/* A producer may be late: its session has ended, and another may have begun. Nonzero when the drain still works for its spool; it
 * does so until dft__drain_leave, which follows in any case. */
int dft__drain_enter(const dft__spool *spool);
void dft__drain_leave(void);

/* Makes the thread, where there is none and one can be made. */
void dft__drain_make_thread(uint64_t signals);
void dft__drain_wake(void);

/* Drains one batch of at least so many cells. Zero when there was nothing to do, or it could not be done now. */
int dft__drain_assist(uint64_t least, uint64_t signals);

int dft__drain_is_ending(void);

/* For the hook. */
int dft__drain_ask_growth(dft__spool *spool);

/* Batches on their way. */
uint32_t dft__drain_in_flight(void);

/* Nothing is ready, and no batch is on its way. */
int dft__drain_is_idle(void);

#endif
