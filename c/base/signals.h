/* signals.h - marks that a thread works for the library. Meanwhile all signals are blocked, so no handler can need, or
 * jump away from, what the thread holds; and the thread's I/O calls are not recorded.
 *
 * It uses the system call, because the C library's function leaves out the signals of thread cancellation.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_SIGNALS_H
#define DFT_SIGNALS_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Nonzero: this thread works for the library, so its I/O calls are not the program's. A count, and one flag bit. */
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

/* Nonzero on the alternate stack, which only signal handlers use. */
int dft__signals_on_own_stack(void);

/* Whether the calling thread may be inside a signal handler, which may have interrupted malloc or the dynamic linker: then
 * nothing may allocate or be loaded. `blocked` is the mask before this library blocked anything. A handler runs with its
 * signal blocked, or on the alternate stack, or has SA_NODEFER. In doubt the answer is yes. It is no in a handler that
 * unblocks its own signal, or that has SA_NODEFER and is not installed any more while it runs. */
int dft__signals_may_be_handler(uint64_t blocked);

/* Around writes of ours, with signals blocked: one beyond RLIMIT_FSIZE sends SIGXFSZ, which must not reach the program. Nonzero
 * when that can happen, and no SIGXFSZ of the program's own is pending; to be handed to dft__signals_absorb_limit. */
int dft__signals_watch_limit(void);
void dft__signals_absorb_limit(int can_exceed);

#endif
