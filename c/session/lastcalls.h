/* lastcalls.h - calls that were on their way when the gate closed.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_LASTCALLS_H
#define DFT_LASTCALLS_H

#include "spool/spool.h"

/* Waits a moment for threads that passed the gate before it closed to finish their record. */
void dft__lastcalls_await(const dft__spool *spool);

/* The same until it is known of every thread, because the process ends and calls that return must be in the trace. A thread that
 * gets no processor is waited for, but not for ever. */
void dft__lastcalls_await_all(const dft__spool *spool);

#endif
