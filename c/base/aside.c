/* aside.c - work of the library within a call of the program.
 *
 * The switch is a call: the function returns to the stack that it came from, and never leaves in another way. So shadow
 * stacks agree with it, and debuggers find the caller by the frame pointer. docs/decisions/032-own-stack.md compares this with
 * scratch memory.
 * SPDX-License-Identifier: MIT */
#include "aside.h"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "atomic.h"
#include "signals.h"

#define STACKS 8 /* more than threads can drain at once */
#define GUARD_BYTES ((size_t)64 << 10)

/* The sanitizers know the stack of each thread, and no other one. */
#if defined(DFT__THREAD_SANITIZER) || defined(__SANITIZE_ADDRESS__)
#define RUNS_IN_PLACE 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RUNS_IN_PLACE 1
#endif
#endif

/* ---- Switching ------------------------------------------------------------------------------------------------------ */

#if defined(RUNS_IN_PLACE) || !(defined(__x86_64__) || defined(__aarch64__))
static void switch_to(void (*function)(void *), void *argument, char *top) {
  (void)top;
  function(argument);
}
#else
#ifdef __x86_64__
#define SWITCH_BODY                                            \
  "endbr64\n"                                                  \
  "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\n" \
  "mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"               \
  "mov %rdx, %rsp\nmov %rdi, %rax\nmov %rsi, %rdi\n"           \
  "call *%rax\n"                                               \
  "leave\n.cfi_def_cfa %rsp, 8\n.cfi_restore %rbp\n"           \
  "ret\n"
#else
#define SWITCH_BODY                                                                                \
  "hint #34\n"                                                                                     \
  "stp x29, x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset x29, -16\n.cfi_offset x30, -8\n" \
  "mov x29, sp\n.cfi_def_cfa_register x29\n"                                                       \
  "mov sp, x2\nmov x3, x0\nmov x0, x1\n"                                                           \
  "blr x3\n"                                                                                       \
  "mov sp, x29\n.cfi_def_cfa_register sp\n"                                                        \
  "ldp x29, x30, [sp], #16\n.cfi_def_cfa_offset 0\n.cfi_restore x29\n.cfi_restore x30\n"           \
  "ret\n"
#endif

#define switch_to dft__aside_switch
void dft__aside_switch(void (*function)(void *), void *argument, char *top) __attribute__((visibility("hidden")));
__asm__(".text\n.p2align 4\n"
        ".globl dft__aside_switch\n.hidden dft__aside_switch\n.type dft__aside_switch, %function\n"
        "dft__aside_switch:\n.cfi_startproc\n" SWITCH_BODY
        ".cfi_endproc\n.size dft__aside_switch, . - dft__aside_switch\n");
#endif

/* ---- The stacks ----------------------------------------------------------------------------------------------------- */

typedef struct side_stack {
  _Atomic uint64_t holder; /* pid 32 | tid 32 of the thread on it; 0: none */
  char *memory;            /* the holder's; NULL: not mapped yet */
} side_stack;

static side_stack stacks[STACKS];
static __thread uint8_t own_number; /* of the one that this thread uses, from 1 on; 0: none */

/* A signal handler with a stack of its own may have interrupted work that is aside. */
static int is_aside(void) {
  const char *here = __builtin_frame_address(0);
  const char *memory = own_number ? stacks[own_number - 1].memory : NULL;
  return memory && here >= memory && here < memory + GUARD_BYTES + DFT__ASIDE_BYTES;
}

/* A stack that a thread of the parent process held at the fork is free. */
static int hold(side_stack *stack, uint64_t own) {
  uint64_t holder = atomic_load(&stack->holder);
  if (holder && holder >> 32 == own >> 32) return 0;
  return atomic_compare_exchange_strong(&stack->holder, &holder, own);
}

/* Most of it is never touched. What lies below it is not accessible: an overflow is a crash, not a damage. */
static int map_stack(side_stack *stack) {
  char *memory;
  if (stack->memory) return 1;
  memory = mmap(NULL, GUARD_BYTES + DFT__ASIDE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return 0;
  if (mprotect(memory + GUARD_BYTES, DFT__ASIDE_BYTES, PROT_READ | PROT_WRITE) != 0) {
    munmap(memory, GUARD_BYTES + DFT__ASIDE_BYTES);
    return 0;
  }
  stack->memory = memory;
  return 1;
}

static side_stack *take(void) {
  uint64_t own = (uint64_t)getpid() << 32 | (uint32_t)syscall(SYS_gettid);
  for (side_stack *stack = stacks; stack < stacks + STACKS; stack++) {
    if (!hold(stack, own)) continue;
    if (map_stack(stack)) return stack;
    atomic_store(&stack->holder, 0);
    return NULL;
  }
  return NULL;
}

/* ---- Running -------------------------------------------------------------------------------------------------------- */

/* On the caller's stack where `stack` is NULL. */
static void run(void (*function)(void *), void *argument, side_stack *stack) {
  int can_exceed = dft__signals_watch_limit();
  if (stack) {
    uint8_t outer = own_number;
    own_number = (uint8_t)(stack - stacks + 1);
    switch_to(function, argument, stack->memory + GUARD_BYTES + DFT__ASIDE_BYTES);
    own_number = outer;
    atomic_store(&stack->holder, 0);
  } else {
    function(argument);
  }
  dft__signals_absorb_limit(can_exceed);
}

int dft__aside_try(void (*function)(void *), void *argument) {
  int is_there = is_aside();
  side_stack *stack = is_there ? NULL : take();
  if (!stack && !is_there) return 0;
  run(function, argument, stack);
  return 1;
}

void dft__aside_run(void (*function)(void *), void *argument) {
  if (!dft__aside_try(function, argument)) run(function, argument, NULL);
}

typedef struct long_work {
  void (*function)(void *);
  void *argument;
  uint64_t blocked; /* by the program */
} long_work;

static void run_interruptible(void *work) {
  const long_work *own = work;
  dft__hush++;
  dft__signals_restore(own->blocked | UINT64_C(1) << (SIGXFSZ - 1));
  own->function(own->argument);
  dft__signals_block();
  dft__hush--;
}

#define MAIN_STACK_MOST ((uintptr_t)128 << 20) /* closer to its top, Linux maps nothing else */

/* Whether this is the stack of the main thread, with more room than one of ours. The name of the program is at its top. */
static int is_on_large_stack(void) {
  uintptr_t top = (uintptr_t)getauxval(AT_EXECFN), here = (uintptr_t)__builtin_frame_address(0);
  struct rlimit limit;
  if (here >= top || getrlimit(RLIMIT_STACK, &limit) != 0) return 0;
  if (limit.rlim_cur > MAIN_STACK_MOST) limit.rlim_cur = MAIN_STACK_MOST;
  return top - here + 2 * DFT__ASIDE_BYTES <= limit.rlim_cur;
}

/* Handlers of the program may need a large stack, or look for that of their thread, as those of garbage collectors do. */
void dft__aside_run_long(void (*function)(void *), void *argument) {
  long_work own = {function, argument, dft__signals_block()};
  if (is_on_large_stack()) run(run_interruptible, &own, NULL);
  else dft__aside_run(run_interruptible, &own);
  dft__signals_restore(own.blocked);
}
