/* numbering.h - gives pairs of numbers the small numbers 1, 2, 3 ...; 0 stands for all pairs beyond the limit.
 * Not thread-safe: threads that share one need a lock. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_NUMBERING_H
#define DFTRACER_NUMBERING_H

#include <stdint.h>

typedef struct numbered {
  uint64_t a, b;
} numbered;

typedef struct numbering {
  uint32_t limit; /* the largest number it may give; set before the first use */
  uint32_t count; /* the largest number given so far */
  numbered *keys; /* by number */
  uint32_t *slots;
  uint32_t slot_count;
} numbering;

/* The number of a pair. A new pair gets the next number, and *is_new is set. */
uint32_t numbering_of(numbering *pairs, uint64_t a, uint64_t b, int *is_new);
/* The number of a pair; 0: it has none. */
uint32_t numbering_find(const numbering *pairs, uint64_t a, uint64_t b);
void numbering_free(numbering *pairs);

/* A thread's cache of numbers it looked up before. */
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
