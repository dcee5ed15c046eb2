/* tail.c - wrappers that must be gone when the real function runs: they ask a C function for it, and jump there.
 *
 * A child of vfork returns from the frame that it shares with its parent. dlopen and dlsym look at who called them.
 * SPDX-License-Identifier: MIT */
#include "bind.h"

#if defined(__x86_64__)
/* The arguments, and a stack at a multiple of 16. */
#define TAIL(name, before)                                                                \
  __asm__(".text\n.p2align 4\n"                                                           \
          ".globl " #name "\n.hidden " #name "\n.type " #name ", %function\n" #name ":\n" \
          "endbr64\n"                                                                     \
          "push %rdi\npush %rsi\npush %rdx\n"                                             \
          "call " #before "\n"                                                            \
          "pop %rdx\npop %rsi\npop %rdi\n"                                                \
          "jmp *%rax\n"                                                                   \
          ".size " #name ", . - " #name "\n");
#elif defined(__aarch64__)
#define TAIL(name, before)                                                                \
  __asm__(".text\n.p2align 4\n"                                                           \
          ".globl " #name "\n.hidden " #name "\n.type " #name ", %function\n" #name ":\n" \
          "hint #34\n"                                                                    \
          "stp x29, x30, [sp, #-48]!\nstp x0, x1, [sp, #16]\nstr x2, [sp, #32]\n"         \
          "bl " #before "\n"                                                              \
          "mov x16, x0\n"                                                                 \
          "ldr x2, [sp, #32]\nldp x0, x1, [sp, #16]\nldp x29, x30, [sp], #48\n"           \
          "br x16\n"                                                                      \
          ".size " #name ", . - " #name "\n");
#else
#error "this architecture needs a tail jump of its own"
#endif

TAIL(dft__tail_vfork, dft__io_before_vfork)
TAIL(dft__tail_dlopen, dft__bind_before_dlopen)
TAIL(dft__tail_dlsym, dft__bind_before_dlsym)
