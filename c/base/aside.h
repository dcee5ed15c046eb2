/* aside.h - work of the library within a call of the program: opening a trace, draining a batch, completing a trace.
 *
 * The program's thread may have a stack of a few KiB, and a signal handler even less. So the work gets a stack of its own,
 * of DFT__ASIDE_BYTES. And it must not send the program a signal: where a write meets RLIMIT_FSIZE, SIGXFSZ is taken back.
 *
 * All signals are blocked meanwhile: no handler runs on that stack, and none can jump away from it. Only work that may take long
 * lets the program's signals in, and stays where it is if that is the main thread's stack, with room. Elsewhere a handler that
 * jumps away from it keeps its stack; there are others.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_ASIDE_H
#define DFT_ASIDE_H

#include <stddef.h>

#define DFT__ASIDE_BYTES ((size_t)512 << 10)

/* Runs function(argument) so. Zero when every stack is in use, or there is no memory for one: then it was not run. */
int dft__aside_try(void (*function)(void *), void *argument);

/* The same for what cannot be left undone: without a stack for it, it runs on the caller's. */
void dft__aside_run(void (*function)(void *), void *argument);

/* The same for the recovery of other processes, with the signals that the caller lets in, and its I/O calls not recorded. */
void dft__aside_run_long(void (*function)(void *), void *argument);

#endif
