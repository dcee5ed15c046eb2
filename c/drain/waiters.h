/* waiters.h - the line of threads that wait for room in the spool, and whether waiting makes sense.
 *
 * Everything here is safe in a signal handler: futexes, no locks.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_WAITERS_H
#define DFT_WAITERS_H

#include "spool/chunk.h"

/* A session opened, or this is a forked child: nobody waits, and nothing has failed. */
void dft__waiters_clear(void);

/* ---- The line ---- */

/* Only so many may try to take a chunk: more than run at once, so that no chunk lies idle. */
#define DFT__WAITERS_FIRST 64

/* The ticket of a thread that joins. */
uint32_t dft__waiters_join(dft__spool *spool);
void dft__waiters_leave(dft__spool *spool);

/* How many are before it. Below 0: others have overtaken it. */
int dft__waiters_place(uint32_t ticket);

/* How often somebody has called this ticket. */
uint32_t dft__waiters_calls(uint32_t ticket);

/* Sleeps until somebody calls this ticket, since `calls` was read, or for so long. */
void dft__waiters_sleep(uint32_t ticket, uint32_t calls, uint64_t ns);

/* Chunks have become free: wakes the first ones. */
void dft__waiters_call(void);

/* The spool may have grown: the same. */
void dft__waiters_note_growth(const dft__spool *spool);

/* ---- The output ---- */

/* An append failed. */
void dft__waiters_note_failure(void);

/* So many cells were appended. is_all: nothing that is ready was left. */
void dft__waiters_note_append(uint64_t cells, int is_all);

int dft__waiters_is_failing(void);

/* How long a thread waits for an output that is stuck. However many threads wait for an output that fails, and however often, they
 * have this time together, until it works again. */
#define DFT__WAITERS_WAIT_NS UINT64_C(5000000000)

/* When a wait ends that has this deadline of its own: then, or earlier. */
uint64_t dft__waiters_end_of_wait(uint64_t now, uint64_t deadline);

/* A thread waited in vain: others do not wait until the output works again. */
void dft__waiters_stall(void);
int dft__waiters_is_stalled(void);

#endif
