/* session.h - one trace of one process, from start to stop.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_SESSION_H
#define DFT_SESSION_H

#include "spool/gate.h"

/* For threads that find the gate closed: opens a session when the environment asks for one, or when this is the forked child of
 * a traced process. Zero when there is nothing to record into. `signals` is what the program has blocked. */
int dft__session_open_due(uint64_t signals);

/* For calls that found the gate closed: if another thread ends the process, waits for that. Zero when no thread does. */
int dft__session_await_exit(void);

/* A thread holds this lock while it opens or closes a session, or changes what belongs to it. Zero in a signal handler that
 * interrupted the holder, or after so many milliseconds. Take it with signals blocked: a handler that jumps away would keep it for
 * ever. Recording calls wait for some seconds at most. So does a thread that forks: it holds the lock during the fork, and
 * fork handlers of other libraries may wait for a thread that waits for the lock. */
enum { DFT__LOCK_ALWAYS = -1, DFT__LOCK_MS = 3000 };
int dft__session_lock(int most_ms);
void dft__session_unlock(void);

/* With the lock: whether a session is open, or would open at the first event. Reads the settings if that has not happened. */
int dft__session_would_open(void);

#endif
