/* idset.c - which ids were there.
 * SPDX-License-Identifier: MIT */
#include "idset.h"

#include <stdlib.h>

int idset_add(idset *of, uint64_t id) {
  uint64_t number = id / 32768, bit = (uint64_t)1 << id % 64;
  uint32_t at = (uint32_t)(number * 0x9e3779b97f4a7c15u >> 40) % IDSET_PAGES;
  int was_there;
  for (uint32_t tries = 0; of->pages[at] && of->pages[at]->number != number; tries++) {
    if (tries == 64) return -1;
    at = (at + 1) % IDSET_PAGES;
  }
  if (!of->pages[at]) {
    of->pages[at] = calloc(1, sizeof *of->pages[at]);
    if (!of->pages[at]) return -1;
    of->pages[at]->number = number;
  }
  was_there = (of->pages[at]->bits[id % 32768 / 64] & bit) != 0;
  of->pages[at]->bits[id % 32768 / 64] |= bit;
  return was_there;
}

void idset_free(idset *of) {
  for (uint32_t i = 0; i < IDSET_PAGES; i++) free(of->pages[i]);
}
