/* textpool.c - texts by number.
 * SPDX-License-Identifier: MIT */
#include "textpool.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const char *text, size_t len) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < len; i++) hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
  return hash ^ hash >> 29;
}

/* The slot of the text, or the free one where it belongs. */
static uint32_t *slot_of(const text_pool *pool, const char *text, size_t len) {
  uint32_t at = (uint32_t)hash_of(text, len) & (pool->slot_count - 1);
  while (pool->slots[at]) {
    const dft_text *other = &pool->texts[pool->slots[at] - 1];
    if (other->len == len && memcmp(other->text, text, len) == 0) break;
    at = (at + 1) & (pool->slot_count - 1);
  }
  return &pool->slots[at];
}

/* Enters all texts into the slots, which have room. */
static void fill_slots(text_pool *pool) {
  memset(pool->slots, 0, pool->slot_count * sizeof *pool->slots);
  for (uint32_t i = 0; i < pool->count; i++) *slot_of(pool, pool->texts[i].text, pool->texts[i].len) = i + 1;
}

static int grow(text_pool *pool) {
  uint32_t capacity = pool->capacity ? pool->capacity * 2 : 32;
  dft_text *texts = realloc(pool->texts, capacity * sizeof *texts);
  uint32_t *slots;
  if (!texts) return 0;
  pool->texts = texts;
  slots = realloc(pool->slots, 2 * capacity * sizeof *slots);
  if (!slots) return 0;
  pool->slots = slots;
  pool->slot_count = 2 * capacity;
  pool->capacity = capacity;
  fill_slots(pool);
  return 1;
}

static uint32_t add(text_pool *pool, const char *text, size_t len) {
  uint32_t *slot;
  char *copy;
  if (pool->count == pool->capacity && !grow(pool)) return UINT32_MAX;
  slot = slot_of(pool, text, len);
  if (*slot) return *slot - 1;
  copy = malloc(len + 1);
  if (!copy) return UINT32_MAX;
  if (len) memcpy(copy, text, len);
  copy[len] = '\0';
  pool->texts[pool->count] = (dft_text){copy, len};
  *slot = ++pool->count;
  return pool->count - 1;
}

uint32_t text_pool_add(text_pool *pool, const char *text, size_t len) {
  if (!pool->count && add(pool, "", 0) == UINT32_MAX) return UINT32_MAX;
  return add(pool, text, len);
}

typedef struct ranked_text {
  dft_text text;
  uint32_t number;
} ranked_text;

static int by_bytes(const void *a, const void *b) {
  const dft_text *one = &((const ranked_text *)a)->text, *two = &((const ranked_text *)b)->text;
  int order = memcmp(one->text, two->text, one->len < two->len ? one->len : two->len);
  return order ? order : (one->len > two->len) - (one->len < two->len);
}

uint32_t *text_pool_sort(text_pool *pool) {
  ranked_text *order = malloc((pool->count + 1) * sizeof *order);
  uint32_t *numbers = malloc((pool->count + 1) * sizeof *numbers);
  if (order && numbers) {
    for (uint32_t i = 0; i < pool->count; i++) order[i] = (ranked_text){pool->texts[i], i};
    qsort(order, pool->count, sizeof *order, by_bytes);
    for (uint32_t i = 0; i < pool->count; i++) {
      pool->texts[i] = order[i].text;
      numbers[order[i].number] = i;
    }
    if (pool->slot_count) fill_slots(pool);
  } else {
    free(numbers);
    numbers = NULL;
  }
  free(order);
  return numbers;
}

void text_pool_free(text_pool *pool) {
  for (uint32_t i = 0; i < pool->count; i++) free((char *)pool->texts[i].text);
  free(pool->texts);
  free(pool->slots);
  *pool = (text_pool){0};
}
