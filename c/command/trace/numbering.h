/* numbering.h - pairs of numbers as small numbers 1, 2, 3 ...; 0 stands for all that came when there was no more room.
 * For one thread; who shares one, locks. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_NUMBERING_H
#define DFTRACER_NUMBERING_H

#include <stdint.h>

typedef struct numbered {
  uint64_t a, b;
} numbered;

typedef struct numbering {
  uint32_t limit; /* how many there may be; set before the first use */
  uint32_t count; /* the highest number; numbers begin with 1 */
  numbered *keys; /* by number */
  uint32_t *slots;
  uint32_t slot_count;
} numbering;

/* The number of a pair; *is_new is set when it was just given. */
uint32_t numbering_of(numbering *of, uint64_t a, uint64_t b, int *is_new);
/* The number of a pair that has one; 0: it has none. */
uint32_t numbering_find(const numbering *of, uint64_t a, uint64_t b);
void numbering_free(numbering *of);

/* A thread's memory of numbers it asked for; a function of the owner answers what is not there. */
#define NUMBERED_CACHE 1024u
typedef struct numbered_cache {
  struct {
    uint64_t a, b;
    uint32_t number; /* 0: nothing */
  } slot[NUMBERED_CACHE];
} numbered_cache;

static inline uint64_t numbered_hash(uint64_t a, uint64_t b) {
  uint64_t h = (a ^ (b << 32 | b >> 32)) * 0x9e3779b97f4a7c15u;
  return (h ^ h >> 29) * 0xd1b54a32d192ed03u;
}

#endif
