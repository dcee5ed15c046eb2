/* spanstack.c - a stack of spans of time.
 * SPDX-License-Identifier: MIT */
#include "spanstack.h"

#include <stdlib.h>
#include <string.h>

#include "spill.h"

#define BLOCK_SPANS 1024u
#define CAPACITY_FIRST 64u

static int grow(span_stack *stack) {
  uint32_t capacity = stack->capacity ? stack->capacity * 2 : CAPACITY_FIRST;
  stacked_span *spans = realloc(stack->spans, capacity * sizeof *spans);
  if (!spans) return 0;
  spill_hold((capacity - stack->capacity) * sizeof *spans);
  stack->spans = spans;
  stack->capacity = capacity;
  return 1;
}

static int spill_block(span_stack *stack, const stacked_span *spans) {
  if (stack->spilled == stack->place_count) {
    uint32_t count = stack->place_count ? stack->place_count * 2 : 4;
    int64_t *places = realloc(stack->places, count * sizeof *places);
    if (!places) return 0;
    for (uint32_t i = stack->place_count; i < count; i++) places[i] = SPILL_NOWHERE;
    stack->places = places;
    stack->place_count = count;
  }
  return spill_write(&stack->places[stack->spilled++], spans, BLOCK_SPANS * sizeof *spans);
}

/* Spills the lower half of what is in memory. */
static int spill_half(span_stack *stack) {
  uint32_t done = 0;
  for (; done + BLOCK_SPANS <= stack->count / 2; done += BLOCK_SPANS) {
    if (!spill_block(stack, stack->spans + done)) return 0;
  }
  stack->count -= done;
  memmove(stack->spans, stack->spans + done, stack->count * sizeof *stack->spans);
  return 1;
}

int span_stack_push(span_stack *stack, int64_t start, int64_t end) {
  if (stack->count == stack->capacity) {
    int is_small = stack->capacity < 2 * BLOCK_SPANS;
    int is_good = is_small || spill_is_within(stack->capacity * sizeof *stack->spans, 1) ? grow(stack)
                                                                                         : spill_half(stack);
    if (!is_good) return 0;
  }
  stack->spans[stack->count++] = (stacked_span){start, end};
  return 1;
}

int span_stack_top(span_stack *stack, const stacked_span **top) {
  *top = NULL;
  if (!stack->count && stack->spilled) {
    if (!spill_read(stack->places[--stack->spilled], stack->spans, BLOCK_SPANS * sizeof *stack->spans)) return 0;
    stack->count = BLOCK_SPANS;
  }
  if (stack->count) *top = &stack->spans[stack->count - 1];
  return 1;
}

void span_stack_free(span_stack *stack) {
  spill_release(stack->capacity * sizeof *stack->spans);
  free(stack->spans);
  free(stack->places);
  *stack = (span_stack){0};
}
