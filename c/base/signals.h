/* signals.h - this thread is at work for us: no signal handler runs while it holds something that a handler could want, or
 * could jump away from, and its I/O calls are not recorded.
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

/* Nonzero: the library is at work on this thread, and I/O calls are its own, not the program's. A count, and a mark. */
extern __thread uint32_t dft__hush __attribute__((tls_model("initial-exec"), visibility("hidden")));
#define DFT__HUSH_VFORK (1u << 31) /* a child may be running in this thread's memory */

/* Blocks every signal for the calling thread, and returns what was blocked before. */
static inline uint64_t dft__signals_block(void) {
  uint64_t all = UINT64_MAX;
  uint64_t before = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, 8);
  dft__hush++;
  return before;
}

static inline void dft__signals_restore(uint64_t before) {
  dft__hush--;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, 8);
}

/* What is blocked now. */
uint64_t dft__signals_blocked(void);

/* Nonzero on the alternate stack, which only handlers are on. */
int dft__signals_on_own_stack(void);

/* A handler runs with its signal blocked, or on the alternate stack: nonzero where `blocked`, before this library blocked
 * anything, or the stack shows one. In doubt it answers yes. */
int dft__signals_may_be_handler(uint64_t blocked);

#endif
