/* signals.h - no signal handler runs while this thread holds something that a handler could want, or could jump away from.
 *
 * The system call, because the library's version leaves out the signals of thread cancellation.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_SIGNALS_H
#define DFT_SIGNALS_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Blocks every signal for the calling thread, and returns what was blocked before. */
static inline uint64_t dft__signals_block(void) {
  uint64_t all = UINT64_MAX;
  uint64_t before = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, 8);
  return before;
}

static inline void dft__signals_restore(uint64_t before) {
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, 8);
}

#endif
