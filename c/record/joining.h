/* joining.h - how threads join a session, and leave it when they end.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_JOINING_H
#define DFT_JOINING_H

#include "thread.h"

/* Makes the calling thread part of the session, after opening one when that is due. */
enum dft__readiness dft__thread_enter(uint32_t events);

/* A thread of the session has ended: regions that it left open are recorded, and its memory is free for others. */
void dft__thread_leave(const dft__own *own);

/* When a session opens: makes the key whose destructor runs when a thread ends. */
void dft__thread_prepare(void);

#endif
