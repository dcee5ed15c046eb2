/* idset.h - a set of event ids: bits in pages, because ids come in blocks. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_IDSET_H
#define DFTRACER_IDSET_H

#include <stdint.h>

#define IDSET_PAGES 16384u /* of 4 KiB: 64 MiB, 500 million ids in a row */

typedef struct idset {
  struct idset_page {
    uint64_t number;
    uint64_t bits[512];
  } * pages[IDSET_PAGES];
} idset;

/* 1: the id was in the set; 0: it was added; -1: there is no room for it. */
int idset_add(idset *seen, uint64_t id);
void idset_free(idset *seen);

#endif
