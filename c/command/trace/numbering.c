/* numbering.c - pairs of numbers as small numbers.
 * SPDX-License-Identifier: MIT */
#include "numbering.h"

#include <stdlib.h>
#include <string.h>

static int grow(numbering *of) {
  uint32_t slot_count = of->slot_count ? of->slot_count * 2 : 256;
  uint32_t *slots = calloc(slot_count, sizeof *slots);
  numbered *keys = realloc(of->keys, slot_count * sizeof *keys);
  if (keys) of->keys = keys;
  if (!slots || !keys) {
    free(slots);
    return 0;
  }
  for (uint32_t number = 1; number <= of->count; number++) {
    uint32_t at = (uint32_t)(numbered_hash(keys[number].a, keys[number].b) >> 32) & (slot_count - 1);
    while (slots[at]) at = (at + 1) & (slot_count - 1);
    slots[at] = number;
  }
  free(of->slots);
  of->slots = slots;
  of->slot_count = slot_count;
  return 1;
}

/* Where the pair is, or an empty slot. */
static uint32_t slot_of(const numbering *of, uint64_t a, uint64_t b) {
  uint32_t at = (uint32_t)(numbered_hash(a, b) >> 32) & (of->slot_count - 1);
  while (of->slots[at] && (of->keys[of->slots[at]].a != a || of->keys[of->slots[at]].b != b))
    at = (at + 1) & (of->slot_count - 1);
  return at;
}

uint32_t numbering_find(const numbering *of, uint64_t a, uint64_t b) {
  return of->slot_count ? of->slots[slot_of(of, a, b)] : 0;
}

uint32_t numbering_of(numbering *of, uint64_t a, uint64_t b, int *is_new) {
  uint32_t at;
  *is_new = 0;
  if (of->count + 1 >= of->slot_count / 2 && !grow(of)) return 0;
  at = slot_of(of, a, b);
  if (of->slots[at]) return of->slots[at];
  if (of->count >= of->limit) return 0;
  of->slots[at] = ++of->count;
  of->keys[of->count] = (numbered){a, b};
  *is_new = 1;
  return of->count;
}

void numbering_free(numbering *of) {
  free(of->keys);
  free(of->slots);
  memset(of, 0, sizeof *of);
}
