/* ownership.h - who may write the outputs of a spool: its process, or a recovery that takes it.
 *
 * Where a process holds no lock on its spool, nobody can prove from outside that it is dead. If the user says so, a recovery
 * takes the trace. The process may live all the same. So both ask here before they write. A process whose trace was taken
 * goes on with another one, which begins where the recovery stopped (session/taking.c).
 * SPDX-License-Identifier: MIT */
#ifndef DFT_OWNERSHIP_H
#define DFT_OWNERSHIP_H

#include "spool.h"

/* The process begins to append and commit. Zero: a recovery has the spool, or has had it since `takings` was read. */
int dft__ownership_enter(dft__spool *spool, uint64_t takings);
/* It has appended, and is about to commit. Zero: a recovery waited for it in vain, and has the spool. */
int dft__ownership_keep(dft__spool *spool);
void dft__ownership_leave(dft__spool *spool);

/* Whether a recovery has it now. One that died has not: then this ends what it began. */
int dft__ownership_is_lost(dft__spool *spool);

/* A recovery takes the spool, which it has opened. Waits until the process is not appending. One that does so for five seconds
 * has died in the middle of it, or was stopped there, and may not commit. */
void dft__ownership_take(dft__spool *spool);
/* The process itself begins another trace: a recovery that does not see the spool has published what was written. */
void dft__ownership_renew(dft__spool *spool);

/* A recovery that took it has died before its last commit: nothing of it counts. */
void dft__ownership_untake(dft__spool *spool);

#endif
