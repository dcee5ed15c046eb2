/* signals.c - whether the calling thread may be inside a signal handler, and SIGXFSZ that our writes caused.
 * SPDX-License-Identifier: MIT */
#include "signals.h"

#include <sys/resource.h>
#include <time.h>

__thread uint32_t dft__hush;

static uint64_t initial_mask;

static uint64_t blocked_now(void) {
  uint64_t mask = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &mask, 8);
  return mask;
}

__attribute__((constructor)) static void remember_mask(void) {
  initial_mask = blocked_now();
}

int dft__signals_on_own_stack(void) {
  stack_t stack;
  return syscall(SYS_sigaltstack, NULL, &stack) == 0 && stack.ss_flags & SS_ONSTACK;
}

#define BIT(signal) (UINT64_C(1) << ((signal)-1))
#define FAULTS (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGABRT))

/* As the kernel has it. The C library's function hides its own signals, and asks for more memory of the stack. */
typedef struct kernel_action {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)(void);
  uint64_t mask;
} kernel_action;

/* Handlers of faults often have SA_NODEFER (Python's faulthandler), but malloc causes no fault. One with SA_RESETHAND is not
 * installed any more when it runs. */
static int may_run(int signal, uint64_t blocked) {
  kernel_action action = {0};
  if (syscall(SYS_rt_sigaction, signal, NULL, &action, sizeof action.mask) != 0) return 0;
  if (action.handler == SIG_DFL || action.handler == SIG_IGN) return 0;
  if (blocked & BIT(signal)) return 1;
  return action.flags & SA_NODEFER && !(action.flags & SA_RESETHAND) && !(FAULTS & BIT(signal));
}

int dft__signals_may_be_handler(uint64_t blocked) {
  if ((blocked & ~initial_mask) != 0 || dft__signals_on_own_stack()) return 1;
  for (int signal = 1; signal <= 64; signal++) {
    if (may_run(signal, blocked)) return 1;
  }
  return 0;
}

/* ---- SIGXFSZ -------------------------------------------------------------------------------------------------------- */

static int is_limit_pending(void) {
  uint64_t pending = 0;
  return syscall(SYS_rt_sigpending, &pending, sizeof pending) == 0 && pending & BIT(SIGXFSZ);
}

int dft__signals_watch_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
  return !is_limit_pending();
}

void dft__signals_absorb_limit(int can_exceed) {
  const uint64_t signals = BIT(SIGXFSZ);
  const struct timespec none = {0, 0};
  if (can_exceed && is_limit_pending()) syscall(SYS_rt_sigtimedwait, &signals, NULL, &none, sizeof signals);
}
