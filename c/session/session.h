/* session.h - one trace of one process, from start to stop.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_SESSION_H
#define DFT_SESSION_H

#include "spool/gate.h"

/* Called by threads that find the gate closed: opens a session when the environment asks for one, or when this is the
 * forked child of a traced process. Zero when there is nothing to record into. */
int dft__session_open_due(void);

/* Who opens or closes a session, or changes what goes with it, holds this. Zero in a signal handler that interrupted the
 * holder, or after so many tries. With signals blocked: a handler that jumps away would keep it for ever.
 * Calls that only come by wait some seconds at most, and so does a thread that forks: it holds this meanwhile, and others'
 * handlers of fork may wait for a thread that waits for this. */
enum { DFT__LOCK_ALWAYS = -1, DFT__LOCK_TRIES = 30000 };
int dft__session_lock(int tries);
void dft__session_unlock(void);

/* With the lock: whether there is a session, or the environment asks for one at the first event. Reads the settings when
 * nobody has. */
int dft__session_would_open(void);

#endif
