/* spanstack.h - a stack of spans of time. What lies deep in it is spilled, and comes back when it is needed.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SPANSTACK_H
#define DFTRACER_SPANSTACK_H

#include <stdint.h>

typedef struct stacked_span {
  int64_t start, end;
} stacked_span;

typedef struct span_stack {
  stacked_span *spans; /* the upper part */
  uint32_t count, capacity;
  int64_t *places; /* of blocks in the spill; the lower part is in the first `spilled` of them */
  uint32_t spilled, place_count;
} span_stack;

/* Each returns 0 when there is no memory, or no room for the spill. */

int span_stack_push(span_stack *stack, int64_t start, int64_t end);
/* *top is NULL when the stack is empty. */
int span_stack_top(span_stack *stack, const stacked_span **top);
/* After span_stack_top. */
static inline void span_stack_pop(span_stack *stack) {
  stack->count--;
}
void span_stack_free(span_stack *stack);

#endif
