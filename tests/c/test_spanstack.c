/* test_spanstack.c - what was pushed comes back, the last first, from memory and from the spill.
 * The core does not have these files: the command does. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* for spill.c */
#include "command/trace/spanstack.c"

#include "check.h"
#include "command/trace/spill.c"

#define MANY (10 * (int64_t)SPAN_BLOCK + 7)

static void push(span_stack *stack, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; i++) CHECK(span_stack_push(stack, i, -i));
}

/* Down to `from`. */
static void pop(span_stack *stack, int64_t from, int64_t to) {
  const stacked_span *top;
  for (int64_t i = to; i-- > from;) {
    CHECK(span_stack_top(stack, &top));
    CHECK(top != NULL);
    CHECK_INT(top->start, i);
    CHECK_INT(top->end, -i);
    span_stack_pop(stack);
  }
}

static void check_empty(span_stack *stack) {
  const stacked_span *top;
  CHECK(span_stack_top(stack, &top));
  CHECK(top == NULL);
  span_stack_free(stack);
  CHECK_UINT(atomic_load(&held), 0);
}

static void spans_come_back(void) {
  span_stack stack = {0};
  push(&stack, 0, MANY);
  CHECK_UINT(stack.spilled, 0);
  pop(&stack, 0, MANY);
  check_empty(&stack);
}

static void what_is_deep_is_spilled(void) {
  span_stack stack = {0};
  spill_set_limit(2 * BLOCK_BYTES);
  push(&stack, 0, MANY);
  CHECK_UINT(stack.spilled, 9); /* of 10 full blocks; the other one is in memory, with the one on top */
  CHECK_UINT(atomic_load(&held), 2 * BLOCK_BYTES);
  pop(&stack, 0, MANY);
  check_empty(&stack);
  spill_set_limit(SPILL_LIMIT);
}

/* At every height: the blocks that come back are used again, and so are their places in the spill. */
static void it_goes_up_and_down(void) {
  span_stack stack = {0};
  int64_t file_end;
  spill_set_limit(BLOCK_BYTES);
  push(&stack, 0, MANY);
  file_end = atomic_load(&end);
  for (int64_t height = MANY; height > 0; height -= SPAN_BLOCK / 3) {
    const int64_t low = height > 3 * SPAN_BLOCK ? height - 3 * SPAN_BLOCK : 0;
    pop(&stack, low, height);
    push(&stack, low, height);
    pop(&stack, height > SPAN_BLOCK / 3 ? height - SPAN_BLOCK / 3 : 0, height);
  }
  CHECK_INT(atomic_load(&end), file_end);
  check_empty(&stack);
  spill_set_limit(SPILL_LIMIT);
}

/* A block that became empty serves the next push. */
static void an_edge_does_not_allocate(void) {
  span_stack stack = {0};
  uint64_t bytes;
  push(&stack, 0, 2 * SPAN_BLOCK + 1);
  pop(&stack, 2 * SPAN_BLOCK - 1, 2 * SPAN_BLOCK + 1);
  bytes = atomic_load(&held);
  CHECK(stack.spare != NULL);
  push(&stack, 2 * SPAN_BLOCK - 1, 2 * SPAN_BLOCK + 1);
  CHECK(stack.spare == NULL);
  CHECK_UINT(atomic_load(&held), bytes);
  pop(&stack, 0, 2 * SPAN_BLOCK + 1);
  check_empty(&stack);
}

int main(void) {
  spans_come_back();
  what_is_deep_is_spilled();
  it_goes_up_and_down();
  an_edge_does_not_allocate();
  return 0;
}
