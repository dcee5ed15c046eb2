/* signals.c - whether the calling thread may be inside a signal handler.
 * SPDX-License-Identifier: MIT */
#include "signals.h"

__thread uint32_t dft__hush;

static uint64_t initial_mask;

uint64_t dft__signals_blocked(void) {
  uint64_t mask = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &mask, 8);
  return mask;
}

__attribute__((constructor)) static void remember_mask(void) {
  initial_mask = dft__signals_blocked();
}

int dft__signals_on_own_stack(void) {
  stack_t stack;
  return syscall(SYS_sigaltstack, NULL, &stack) == 0 && stack.ss_flags & SS_ONSTACK;
}

int dft__signals_may_be_handler(uint64_t blocked) {
  return (blocked & ~initial_mask) != 0 || dft__signals_on_own_stack();
}
