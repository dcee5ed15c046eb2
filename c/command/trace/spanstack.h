/* spanstack.h - a stack of spans of time. What lies deep in it is spilled, and comes back when it is needed.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SPANSTACK_H
#define DFTRACER_SPANSTACK_H

#include <assert.h>
#include <stdint.h>

typedef struct stacked_span {
  int64_t start, end;
} stacked_span;

#define SPAN_BLOCK 1024u /* spans in a full block */

/* A full block of a stack. */
typedef struct span_block {
  stacked_span *spans; /* NULL: they are in the spill */
  int64_t place;       /* in the spill, now or once before */
} span_block;

/* Zero: empty. It is made of blocks, so that it grows without copies, and other stacks can use what it frees. */
typedef struct span_stack {
  stacked_span *spans; /* the block on top */
  uint32_t count, capacity;
  span_block *below; /* the lowest first; of these, the first `spilled` are in the spill */
  uint32_t below_count, below_capacity, spilled;
  stacked_span *spare; /* a block that became empty: what goes up and down at its edge does not allocate */
} span_stack;

static inline uint64_t span_stack_size(const span_stack *stack) {
  return (uint64_t)stack->below_count * SPAN_BLOCK + stack->count;
}

/* These return 0 when there is no memory, or no room for the spill. */

int span_stack_make_room(span_stack *stack); /* when the block on top is full */
int span_stack_go_down(span_stack *stack);   /* when the block on top is empty, and others are below */

static inline int span_stack_push(span_stack *stack, int64_t start, int64_t end) {
  if (stack->count == stack->capacity && !span_stack_make_room(stack)) return 0;
  assert(stack->spans);
  stack->spans[stack->count++] = (stacked_span){start, end};
  return 1;
}

/* *top is NULL when the stack is empty. */
static inline int span_stack_top(span_stack *stack, const stacked_span **top) {
  *top = (const stacked_span *)0;
  if (!stack->count && stack->below_count && !span_stack_go_down(stack)) return 0;
  if (stack->count) *top = &stack->spans[stack->count - 1];
  return 1;
}

/* After span_stack_top. */
static inline void span_stack_pop(span_stack *stack) {
  stack->count--;
}

void span_stack_free(span_stack *stack);

#endif
