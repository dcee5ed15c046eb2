/* pushedrange.c - the open ranges of each thread.
 *
 * They are in a mapping of the thread's own, made at its first push: malloc would not do in a signal handler. The place
 * for a range is taken before it is filled, so a handler that pushes and pops in between finds its own place above.
 * SPDX-License-Identifier: MIT */
#include "pushedrange.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

/* Room for 65,535 open ranges of a thread, 1 MiB of addresses. Pages that are not used take no memory. */
#define STACK_BYTES ((size_t)1 << 20)

typedef struct pushed {
  dft_region region;
  uint32_t domain;
  uint32_t level;
} pushed;

typedef struct pushed_stack {
  uint64_t depth;
  uint64_t unused;
  pushed ranges[];
} pushed_stack;

#define RANGES_MOST ((STACK_BYTES - sizeof(pushed_stack)) / sizeof(pushed))

static _Thread_local pushed_stack *own;
static _Thread_local uint64_t beyond; /* ranges that had no room: they end as the thread's innermost regions */
static pthread_key_t exit_key;
static int has_exit_key;

/* ---- The thread's stack --------------------------------------------------------------------------------------------- */

/* Destructor of the key. If the thread pushes again afterwards, it gets a new one. What is open, the core records. */
static void give_back(void *stack) {
  own = NULL;
  munmap(stack, STACK_BYTES);
}

static pushed_stack *make_stack(void) {
  int saved = errno;
  void *made = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  errno = saved;
  if (made == MAP_FAILED) return NULL;
  if (has_exit_key) pthread_setspecific(exit_key, made);
  return own = made;
}

void dft__pushed_range_prepare(void) {
  has_exit_key = pthread_key_create(&exit_key, give_back) == 0;
}

/* The innermost range of the domain, as its place from 1; 0: none. */
static uint64_t innermost(const pushed_stack *stack, uint32_t domain) {
  uint64_t depth = stack->depth;
  while (depth && stack->ranges[depth - 1].domain != domain) depth--;
  return depth;
}

/* ---- Push and pop --------------------------------------------------------------------------------------------------- */

static dft_region begin(const dft__nvtx_event *event) {
  dft_region region;
  if (!dft_is_active()) return 0;
  region = event->site ? dft_region_begin_site(event->site)
                       : dft_region_begin_n(event->name, event->name_len, event->domain->site.name, event->domain->len);
  for (uint32_t i = 0; region && i < event->arg_count; i++) dft_update_arg(region, &event->args[i]);
  return region;
}

int dft__pushed_range_push(const dft__nvtx_event *event) {
  pushed_stack *stack = own ? own : make_stack();
  uint64_t below;
  pushed *range;
  if (!stack || stack->depth == RANGES_MOST) {
    beyond++;
    begin(event);
    return DFT__NVTX_NO_LEVEL;
  }
  below = innermost(stack, event->domain->number);
  range = &stack->ranges[stack->depth++];
  atomic_signal_fence(memory_order_seq_cst);
  range->domain = event->domain->number;
  range->level = below ? stack->ranges[below - 1].level + 1 : 0;
  range->region = begin(event);
  return (int)range->level;
}

int dft__pushed_range_pop(dft__nvtx_name *domain) {
  pushed_stack *stack = own;
  uint64_t place;
  pushed range;
  if (beyond) {
    beyond--;
    dft_region_end();
    return DFT__NVTX_NO_LEVEL;
  }
  place = stack ? innermost(stack, domain->number) : 0;
  if (!place) {
    dft_region_unmatched(&domain->site);
    return DFT__NVTX_NO_LEVEL;
  }
  range = stack->ranges[place - 1];
  memmove(&stack->ranges[place - 1], &stack->ranges[place], (stack->depth - place) * sizeof range);
  atomic_signal_fence(memory_order_seq_cst);
  stack->depth--;
  dft_region_close(range.region);
  return (int)range.level;
}
