/* dictionary.h - texts as small numbers, shared by all cursors of a reader. A number never changes and its text never
 * moves, so dft__dictionary_at needs no lock. SPDX-License-Identifier: MIT */
#ifndef DFT_READER_DICTIONARY_H
#define DFT_READER_DICTIONARY_H

#include <dftracer/reader.h>
#include <pthread.h>
#include <stdatomic.h>

#define DFT__BLOCK_TEXTS 1024u
#define DFT__BLOCKS_MAX 16384u

typedef struct dft__text_entry {
  dft_text text;               /* the text itself; for hosts and files, the hash */
  _Atomic(dft_text *) meaning; /* what the hash stands for, by an HH, FH or SH line */
  uint64_t hash;
} dft__text_entry;

typedef struct dft__dictionary {
  pthread_mutex_t lock;
  _Atomic uint32_t count;
  _Atomic(dft__text_entry *) blocks[DFT__BLOCKS_MAX];
  uint32_t *slots; /* number + 1, by hash; 0: free */
  uint32_t slot_count;
  struct dft__arena *arena; /* shared by all dictionaries */
} dft__dictionary;

/* The memory of texts: bounded, and freed as a whole. */
typedef struct dft__arena {
  pthread_mutex_t lock;
  struct dft__arena_piece *pieces;
  uint64_t used_bytes;
  uint64_t limit_bytes;
  _Atomic uint64_t refused; /* texts for which there was no room */
} dft__arena;

/* What a cursor looked up last. Most lines need the same few texts. */
#define DFT__CACHE_SLOTS 1024u
typedef struct dft__cache {
  dft__dictionary *dictionary;
  struct {
    uint64_t hash;
    const dft__text_entry *entry;
    uint32_t number;
  } slot[DFT__CACHE_SLOTS];
} dft__cache;

void dft__arena_init(dft__arena *arena, uint64_t limit_bytes);
void dft__arena_free(dft__arena *arena);

int dft__dictionary_init(dft__dictionary *dictionary, dft__arena *arena); /* 0: no memory */
void dft__dictionary_free(dft__dictionary *dictionary);
/* The number of a text, which is added if needed. 0: there is no room for it. */
uint32_t dft__dictionary_number(dft__dictionary *dictionary, const char *text, size_t len);
/* NULL: the text has no entry. */
const dft__text_entry *dft__dictionary_find(dft__dictionary *dictionary, const char *text, size_t len);
const dft__text_entry *dft__dictionary_at(dft__dictionary *dictionary, uint32_t number);
/* Defines what a hash stands for; the first definition stays. */
void dft__dictionary_define(dft__dictionary *dictionary, const char *hash, size_t hash_len, const char *text,
                            size_t len);
uint32_t dft__cache_number(dft__cache *cache, const char *text, size_t len);

#endif
