/* tail.h - wrappers that must be gone when the real function runs: they ask a C function for it, then jump there.
 *
 * A child of vfork returns from the frame that it shares with its parent. dlopen and dlsym look at their caller.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_TAIL_H
#define DFT_TAIL_H

#include "symbol.h"

/* The body saves the three argument registers, and keeps the stack at a multiple of 16, around the call of `before`. */
#if defined(__x86_64__)
#define DFT__TAIL_BODY(before)        \
  "endbr64\n"                         \
  "push %rdi\npush %rsi\npush %rdx\n" \
  "call " #before "\n"                \
  "pop %rdx\npop %rsi\npop %rdi\n"    \
  "jmp *%rax\n"
#elif defined(__aarch64__)
#define DFT__TAIL_BODY(before)                                            \
  "hint #34\n"                                                            \
  "stp x29, x30, [sp, #-48]!\nstp x0, x1, [sp, #16]\nstr x2, [sp, #32]\n" \
  "bl " #before "\n"                                                      \
  "mov x16, x0\n"                                                         \
  "ldr x2, [sp, #32]\nldp x0, x1, [sp, #16]\nldp x29, x30, [sp], #48\n"   \
  "br x16\n"
#else
#error "this architecture needs a tail jump of its own"
#endif

/* Defines the wrapper `name`; `before` returns the function to jump to. */
#define DFT__TAIL(name, before)                                                     \
  void name(void);                                                                  \
  dft__function before(void);                                                       \
  __asm__(".text\n.p2align 4\n"                                                     \
          ".globl " #name "\n.hidden " #name "\n.type " #name ", %function\n" #name \
          ":\n" DFT__TAIL_BODY(before) ".size " #name ", . - " #name "\n")

#endif
