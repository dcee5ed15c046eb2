/* numbering.c - gives pairs of numbers small numbers.
 * SPDX-License-Identifier: MIT */
#include "numbering.h"

#include <stdlib.h>
#include <string.h>

static int grow(numbering *pairs) {
  uint32_t slot_count = pairs->slot_count ? pairs->slot_count * 2 : 16;
  uint32_t *slots = calloc(slot_count, sizeof *slots);
  numbered *keys = realloc(pairs->keys, slot_count * sizeof *keys);
  if (keys) pairs->keys = keys;
  if (!slots || !keys) {
    free(slots);
    return 0;
  }
  for (uint32_t number = 1; number <= pairs->count; number++) {
    uint32_t at = (uint32_t)(numbered_hash(keys[number].a, keys[number].b) >> 32) & (slot_count - 1);
    while (slots[at]) at = (at + 1) & (slot_count - 1);
    slots[at] = number;
  }
  free(pairs->slots);
  pairs->slots = slots;
  pairs->slot_count = slot_count;
  return 1;
}

/* The slot of the pair, or the empty one where it belongs. */
static inline uint32_t slot_of(const numbering *pairs, uint64_t a, uint64_t b) {
  uint32_t at = (uint32_t)(numbered_hash(a, b) >> 32) & (pairs->slot_count - 1);
  while (pairs->slots[at] && (pairs->keys[pairs->slots[at]].a != a || pairs->keys[pairs->slots[at]].b != b))
    at = (at + 1) & (pairs->slot_count - 1);
  return at;
}

uint32_t numbering_find(const numbering *pairs, uint64_t a, uint64_t b) {
  return pairs->slot_count ? pairs->slots[slot_of(pairs, a, b)] : 0;
}

uint32_t numbering_of(numbering *pairs, uint64_t a, uint64_t b, int *is_new) {
  uint32_t at;
  *is_new = 0;
  if (pairs->count + 1 >= pairs->slot_count / 2 && !grow(pairs)) return 0;
  at = slot_of(pairs, a, b);
  if (pairs->slots[at]) return pairs->slots[at];
  if (pairs->count >= pairs->limit) return 0;
  pairs->slots[at] = ++pairs->count;
  pairs->keys[pairs->count] = (numbered){a, b};
  *is_new = 1;
  return pairs->count;
}

void numbering_free(numbering *pairs) {
  free(pairs->keys);
  free(pairs->slots);
  memset(pairs, 0, sizeof *pairs);
}
