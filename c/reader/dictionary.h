/* dictionary.h - texts as small numbers, shared by all cursors of a reader. A number never changes and its text never
 * moves, so looking up is free of locks; adding takes one. SPDX-License-Identifier: MIT */
#ifndef DFT_READER_DICTIONARY_H
#define DFT_READER_DICTIONARY_H

#include <dftracer/reader.h>
#include <pthread.h>
#include <stdatomic.h>

#define DFT__BLOCK_TEXTS 1024u
#define DFT__BLOCKS_MAX 16384u

typedef struct dft__entry {
  dft_text text;               /* the text; of hosts and files the hash */
  _Atomic(dft_text *) meaning; /* what HH, FH or SH said the hash means */
  uint64_t hash;
} dft__entry;

typedef struct dft__dictionary {
  pthread_mutex_t lock;
  _Atomic uint32_t count;
  _Atomic(dft__entry *) blocks[DFT__BLOCKS_MAX];
  uint32_t *slots; /* number + 1, by hash; 0: free */
  uint32_t slot_count;
  struct dft__arena *arena; /* of all dictionaries together */
} dft__dictionary;

/* The memory of texts: bounded, and freed at once. */
typedef struct dft__arena {
  pthread_mutex_t lock;
  struct dft__arena_piece *pieces;
  uint64_t used_bytes;
  uint64_t limit_bytes;
  _Atomic uint64_t refused; /* texts that found no room */
} dft__arena;

/* A cursor's memory of what it looked up last: most lines ask for the same few texts. */
#define DFT__CACHE_SLOTS 1024u
typedef struct dft__cache {
  dft__dictionary *dictionary;
  struct {
    uint64_t hash;
    const dft__entry *entry;
    uint32_t number;
  } slot[DFT__CACHE_SLOTS];
} dft__cache;

void dft__arena_init(dft__arena *arena, uint64_t limit_bytes);
void dft__arena_free(dft__arena *arena);

int dft__dictionary_init(dft__dictionary *dictionary, dft__arena *arena); /* 0: no memory */
void dft__dictionary_free(dft__dictionary *dictionary);
/* Adds the text when it is not there; 0 when there is no room for it. */
uint32_t dft__dictionary_number(dft__dictionary *dictionary, const char *text, size_t len);
/* NULL when it is not there. */
const dft__entry *dft__dictionary_find(dft__dictionary *dictionary, const char *text, size_t len);
const dft__entry *dft__dictionary_at(dft__dictionary *dictionary, uint32_t number);
/* Says what a hash means; the first definition stays. */
void dft__dictionary_define(dft__dictionary *dictionary, const char *hash, size_t hash_len, const char *text,
                            size_t len);
uint32_t dft__cache_number(dft__cache *cache, const char *text, size_t len);

#endif
