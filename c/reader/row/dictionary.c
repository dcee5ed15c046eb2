/* dictionary.c - texts as small numbers.
 *
 * Entries are in blocks that never move. A hash table of numbers, under the lock, finds them.
 * SPDX-License-Identifier: MIT */
#include "dictionary.h"

#include <stdlib.h>

#include "base/hash.h"

#define PIECE_BYTES (64u << 10)

struct dft__arena_piece {
  struct dft__arena_piece *next;
  size_t used;
  size_t size;
  char bytes[];
};

/* ---- Arena -------------------------------------------------------------------------------------------------------- */

void dft__arena_init(dft__arena *arena, uint64_t limit_bytes) {
  pthread_mutex_init(&arena->lock, NULL);
  arena->limit_bytes = limit_bytes;
}

void dft__arena_free(dft__arena *arena) {
  while (arena->pieces) {
    struct dft__arena_piece *next = arena->pieces->next;
    free(arena->pieces);
    arena->pieces = next;
  }
  pthread_mutex_destroy(&arena->lock);
}

static void *take(dft__arena *arena, size_t size) {
  struct dft__arena_piece *piece;
  void *result = NULL;
  size = (size + 7) & ~(size_t)7;
  pthread_mutex_lock(&arena->lock);
  piece = arena->pieces;
  if (arena->used_bytes + size <= arena->limit_bytes) {
    if (!piece || piece->size - piece->used < size) {
      size_t room = size > PIECE_BYTES ? size : PIECE_BYTES;
      piece = malloc(sizeof *piece + room);
      if (piece) {
        piece->next = arena->pieces;
        piece->used = 0;
        piece->size = room;
        arena->pieces = piece;
      }
    }
    if (piece) {
      result = piece->bytes + piece->used;
      piece->used += size;
      arena->used_bytes += size;
    }
  }
  pthread_mutex_unlock(&arena->lock);
  if (!result) atomic_fetch_add(&arena->refused, 1);
  return result;
}

/* ---- Dictionary --------------------------------------------------------------------------------------------------- */

static int is_same(const dft__text_entry *entry, uint64_t hash, const char *text, size_t len) {
  return entry->hash == hash && entry->text.len == len && (len == 0 || memcmp(entry->text.text, text, len) == 0);
}

int dft__dictionary_init(dft__dictionary *dictionary, dft__arena *arena) {
  pthread_mutex_init(&dictionary->lock, NULL);
  dictionary->arena = arena;
  dictionary->slot_count = 1024;
  dictionary->slots = calloc(dictionary->slot_count, sizeof *dictionary->slots);
  if (!dictionary->slots) return 0;
  dft__dictionary_number(dictionary, "", 0);
  return dictionary->count == 1;
}

void dft__dictionary_free(dft__dictionary *dictionary) {
  for (uint32_t i = 0; i < DFT__BLOCKS_MAX && dictionary->blocks[i]; i++) free(dictionary->blocks[i]);
  free(dictionary->slots);
  pthread_mutex_destroy(&dictionary->lock);
}

const dft__text_entry *dft__dictionary_at(dft__dictionary *dictionary, uint32_t number) {
  if (number >= atomic_load_explicit(&dictionary->count, memory_order_acquire)) number = 0;
  return &atomic_load_explicit(&dictionary->blocks[number / DFT__BLOCK_TEXTS],
                               memory_order_acquire)[number % DFT__BLOCK_TEXTS];
}

/* The slot of a text, or the free slot where it belongs. */
static uint32_t *slot_of(dft__dictionary *dictionary, uint64_t hash, const char *text, size_t len) {
  uint32_t mask = dictionary->slot_count - 1;
  uint32_t at = (uint32_t)hash & mask;
  while (dictionary->slots[at] &&
         !is_same(dft__dictionary_at(dictionary, dictionary->slots[at] - 1), hash, text, len)) {
    at = (at + 1) & mask;
  }
  return &dictionary->slots[at];
}

static int grow(dft__dictionary *dictionary) {
  uint32_t count = dictionary->slot_count * 2;
  uint32_t *slots = calloc(count, sizeof *slots);
  if (!slots) return 0;
  for (uint32_t i = 0; i < dictionary->slot_count; i++) {
    uint32_t number = dictionary->slots[i];
    uint32_t at;
    if (!number) continue;
    at = (uint32_t)dft__dictionary_at(dictionary, number - 1)->hash & (count - 1);
    while (slots[at]) at = (at + 1) & (count - 1);
    slots[at] = number;
  }
  free(dictionary->slots);
  dictionary->slots = slots;
  dictionary->slot_count = count;
  return 1;
}

static dft__text_entry *new_entry(dft__dictionary *dictionary, uint32_t number) {
  uint32_t block = number / DFT__BLOCK_TEXTS;
  if (block >= DFT__BLOCKS_MAX) return NULL;
  if (!dictionary->blocks[block]) {
    dft__text_entry *entries = calloc(DFT__BLOCK_TEXTS, sizeof *entries);
    if (!entries) return NULL;
    atomic_store_explicit(&dictionary->blocks[block], entries, memory_order_release);
  }
  return &dictionary->blocks[block][number % DFT__BLOCK_TEXTS];
}

/* With the lock held. */
static uint32_t add(dft__dictionary *dictionary, uint64_t hash, const char *text, size_t len) {
  uint32_t number = dictionary->count;
  uint32_t *slot;
  dft__text_entry *entry;
  char *copy;
  if (number >= dictionary->slot_count / 4 * 3 && !grow(dictionary)) return 0;
  entry = new_entry(dictionary, number);
  copy = entry ? take(dictionary->arena, len + 1 + sizeof *entry / 2) : NULL; /* the entry counts as well */
  if (!copy) return 0;
  memcpy(copy, text, len);
  copy[len] = '\0';
  entry->text = (dft_text){copy, len};
  entry->hash = hash;
  slot = slot_of(dictionary, hash, text, len);
  *slot = number + 1;
  atomic_store_explicit(&dictionary->count, number + 1, memory_order_release);
  return number;
}

static uint32_t number_of(dft__dictionary *dictionary, uint64_t hash, const char *text, size_t len) {
  uint32_t number;
  pthread_mutex_lock(&dictionary->lock);
  number = *slot_of(dictionary, hash, text, len);
  number = number ? number - 1 : add(dictionary, hash, text, len);
  pthread_mutex_unlock(&dictionary->lock);
  return number;
}

uint32_t dft__dictionary_number(dft__dictionary *dictionary, const char *text, size_t len) {
  return number_of(dictionary, dft__hash(text, len, 0), text, len);
}

const dft__text_entry *dft__dictionary_find(dft__dictionary *dictionary, const char *text, size_t len) {
  uint32_t number;
  pthread_mutex_lock(&dictionary->lock);
  number = *slot_of(dictionary, dft__hash(text, len, 0), text, len);
  pthread_mutex_unlock(&dictionary->lock);
  return number ? dft__dictionary_at(dictionary, number - 1) : NULL;
}

void dft__dictionary_define(dft__dictionary *dictionary, const char *hash, size_t hash_len, const char *text,
                            size_t len) {
  uint32_t number = dft__dictionary_number(dictionary, hash, hash_len);
  dft__text_entry *entry;
  dft_text *meaning;
  if (!number) return;
  entry = (dft__text_entry *)(uintptr_t)dft__dictionary_at(dictionary, number);
  if (atomic_load_explicit(&entry->meaning, memory_order_acquire)) return;
  pthread_mutex_lock(&dictionary->lock);
  if (!entry->meaning && (meaning = take(dictionary->arena, sizeof *meaning + len + 1)) != NULL) {
    char *copy = (char *)(meaning + 1);
    memcpy(copy, text, len);
    copy[len] = '\0';
    *meaning = (dft_text){copy, len};
    atomic_store_explicit(&entry->meaning, meaning, memory_order_release);
  }
  pthread_mutex_unlock(&dictionary->lock);
}

uint32_t dft__cache_number(dft__cache *cache, const char *text, size_t len) {
  uint64_t hash = dft__hash(text, len, 0);
  uint32_t at = (uint32_t)(hash >> 32) % DFT__CACHE_SLOTS;
  if (cache->slot[at].hash == hash && is_same(cache->slot[at].entry, hash, text, len)) return cache->slot[at].number;
  uint32_t number = number_of(cache->dictionary, hash, text, len);
  if (number || !len) {
    cache->slot[at].hash = hash;
    cache->slot[at].entry = dft__dictionary_at(cache->dictionary, number);
    cache->slot[at].number = number;
  }
  return number;
}
