/* idset.c - a set of event ids.
 * SPDX-License-Identifier: MIT */
#include "idset.h"

#include <stdlib.h>

int idset_add(idset *seen, uint64_t id) {
  uint64_t number = id / 32768, bit = (uint64_t)1 << id % 64;
  uint32_t at = (uint32_t)(number * 0x9e3779b97f4a7c15u >> 40) % IDSET_PAGES;
  int was_there;
  for (uint32_t tries = 0; seen->pages[at] && seen->pages[at]->number != number; tries++) {
    if (tries == 64) return -1;
    at = (at + 1) % IDSET_PAGES;
  }
  if (!seen->pages[at]) {
    seen->pages[at] = calloc(1, sizeof *seen->pages[at]);
    if (!seen->pages[at]) return -1;
    seen->pages[at]->number = number;
  }
  was_there = (seen->pages[at]->bits[id % 32768 / 64] & bit) != 0;
  seen->pages[at]->bits[id % 32768 / 64] |= bit;
  return was_there;
}

void idset_free(idset *seen) {
  for (uint32_t i = 0; i < IDSET_PAGES; i++) free(seen->pages[i]);
}
