/* textpool.h - texts by number, each of them once. Number 0 is the empty text. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TEXTPOOL_H
#define DFTRACER_TEXTPOOL_H

#include <dftracer/sink.h>

typedef struct text_pool {
  dft_text *texts; /* by number; each ends with a zero */
  uint32_t count, capacity;
  uint32_t *slots;
  uint32_t slot_count;
} text_pool;

/* The number of the text, which is copied when it is new. UINT32_MAX: no memory. */
uint32_t text_pool_add(text_pool *pool, const char *text, size_t len);
static inline dft_text text_pool_get(const text_pool *pool, uint32_t number) {
  return pool->texts[number];
}
/* Numbers the texts in the order of their bytes. new_numbers[old] is the new number; the caller frees it. NULL: no memory. */
uint32_t *text_pool_sort(text_pool *pool);
void text_pool_free(text_pool *pool);

#endif
