/* spanstack.c - a stack of spans of time.
 * SPDX-License-Identifier: MIT */
#include "spanstack.h"

#include <stdlib.h>

#include "spill.h"

#define BLOCK_BYTES (SPAN_BLOCK * sizeof(stacked_span))
#define CAPACITY_FIRST 64u /* most stacks stay small */

/* ---- Up ------------------------------------------------------------------------------------------------------------- */

static int enlarge(span_stack *stack) {
  uint32_t capacity = stack->capacity ? stack->capacity * 2 : CAPACITY_FIRST;
  stacked_span *spans = realloc(stack->spans, capacity * sizeof *spans);
  if (!spans) return 0;
  spill_hold((capacity - stack->capacity) * sizeof *spans);
  stack->spans = spans;
  stack->capacity = capacity;
  return 1;
}

/* Puts the block on top below. */
static int put_below(span_stack *stack) {
  if (stack->below_count == stack->below_capacity) {
    uint32_t capacity = stack->below_capacity ? stack->below_capacity * 2 : 4;
    span_block *below = realloc(stack->below, capacity * sizeof *below);
    if (!below) return 0;
    for (uint32_t i = stack->below_capacity; i < capacity; i++) below[i] = (span_block){NULL, SPILL_NOWHERE};
    stack->below = below;
    stack->below_capacity = capacity;
  }
  stack->below[stack->below_count++].spans = stack->spans;
  stack->spans = NULL;
  return 1;
}

static stacked_span *new_block(void) {
  stacked_span *spans = malloc(BLOCK_BYTES);
  if (spans) spill_hold(BLOCK_BYTES);
  return spans;
}

/* Spills the lowest block that is in memory, and returns what held it. NULL: no room for the spill. */
static stacked_span *spill_lowest(span_stack *stack) {
  span_block *lowest = &stack->below[stack->spilled];
  stacked_span *spans = lowest->spans;
  if (!spill_write(&lowest->place, spans, BLOCK_BYTES)) return NULL;
  lowest->spans = NULL;
  stack->spilled++;
  return spans;
}

int span_stack_make_room(span_stack *stack) {
  if (stack->capacity < SPAN_BLOCK) return enlarge(stack);
  if (!put_below(stack)) return 0;
  stack->count = 0;
  if (stack->spare) {
    stack->spans = stack->spare;
    stack->spare = NULL;
  } else {
    stack->spans = spill_is_within(BLOCK_BYTES, 1) ? new_block() : spill_lowest(stack);
  }
  if (stack->spans) return 1;
  stack->spans = stack->below[--stack->below_count].spans; /* all is as it was */
  stack->below[stack->below_count].spans = NULL;
  stack->count = SPAN_BLOCK;
  return 0;
}

/* ---- Down ----------------------------------------------------------------------------------------------------------- */

static void free_block(stacked_span *spans) {
  if (spans) spill_release(BLOCK_BYTES);
  free(spans);
}

int span_stack_go_down(span_stack *stack) {
  span_block *block = &stack->below[--stack->below_count];
  if (block->spans) {
    free_block(stack->spare);
    stack->spare = stack->spans;
    stack->spans = block->spans;
    block->spans = NULL;
  } else {
    stack->spilled = stack->below_count;
    if (!spill_read(block->place, stack->spans, BLOCK_BYTES)) return 0;
  }
  stack->count = SPAN_BLOCK;
  return 1;
}

void span_stack_free(span_stack *stack) {
  spill_release(stack->capacity * sizeof *stack->spans);
  free(stack->spans);
  free_block(stack->spare);
  for (uint32_t i = 0; i < stack->below_count; i++) free_block(stack->below[i].spans);
  free(stack->below);
  *stack = (span_stack){0};
}
