/* intern.c - names to references.
 *
 * A hash table with a linked list of names per bucket. A name is complete before it is linked at the front. A thread that
 * loses the race for a bucket checks the names that were added meanwhile before it tries again, so a text is registered
 * once.
 * SPDX-License-Identifier: MIT */
#include "intern.h"

#include "base/signals.h"
#include "category.h"
#include "visit.h"

static dft__name *at(char *base, uint32_t ref) {
  return (dft__name *)(base + (uint64_t)ref * 16);
}

static uint32_t ref_of(const char *base, const dft__name *name) {
  return (uint32_t)((uint64_t)((const char *)name - base) / 16);
}

static dft__header *header_at(char *base) {
  return (dft__header *)base;
}

/* A small chunk first, which most programs never fill, then large ones. */
static dft__chunk *take_chunk(dft__spool *spool, uint64_t bytes) {
  dft__header *header = spool->header;
  int is_first = !DFT__GET(header->name_cursor) && bytes <= (1u << DFT__CHUNK_LOG_MIN) - DFT__CELL;
  if (is_first) return dft__chunk_take(spool, DFT__CHUNK_LOG_MIN, DFT__USE_NAMES, 1);
  if (DFT__GET(header->name_chunks) >= DFT__NAMES_BYTES >> DFT__BLOCK_LOG) return NULL;
  return dft__chunk_take(spool, DFT__BLOCK_LOG, DFT__USE_NAMES, 1);
}

/* The offset of room for a name; 0 when there is none. */
static uint64_t take_bytes(dft__spool *spool, uint64_t bytes) {
  dft__header *header = spool->header;
  uint64_t cursor = DFT__GET(header->name_cursor);
  for (;;) {
    uint64_t offset = dft__area_offset(cursor);
    uint64_t left = dft__area_room(cursor);
    if (bytes <= left) {
      if (atomic_compare_exchange_weak(&header->name_cursor, &cursor,
                                       dft__area(offset + bytes, (uint32_t)(left - bytes))))
        return offset;
    } else {
      dft__chunk *chunk = take_chunk(spool, bytes);
      uint64_t fresh;
      if (!chunk) return 0;
      fresh = (uint64_t)((char *)chunk - spool->base) + DFT__CELL;
      left = (UINT64_C(1) << DFT__GET(chunk->size_log)) - DFT__CELL - bytes;
      if (atomic_compare_exchange_strong(&header->name_cursor, &cursor, dft__area(fresh + bytes, (uint32_t)left))) {
        if (DFT__GET(chunk->size_log) == DFT__BLOCK_LOG) atomic_fetch_add(&header->name_chunks, 1);
        return fresh;
      }
      dft__chunk_give(spool, chunk);
    }
  }
}

static uint64_t bytes_of(size_t len) {
  return (sizeof(dft__name) + len + 15) & ~UINT64_C(15);
}

static dft__name *fill(char *base, uint64_t offset, uint64_t hash, uint32_t use, uint32_t cat, const char *text,
                       size_t len) {
  dft__name *name = (dft__name *)(base + offset);
  name->hash = hash;
  DFT__SET(name->defined, 0);
  name->index = atomic_fetch_add(&header_at(base)->name_count, 1) + 1;
  name->use = use;
  name->cat = cat;
  name->len = (uint32_t)len;
  name->is_muted = use == DFT__NAME_SITE && cat && dft__category_is_muted(at(base, cat)->text, at(base, cat)->len);
  DFT__SET(name->is_dead, 0);
  memcpy(name->text, text, len);
  return name;
}

/* Into the list of paths that wait for a definition; before others can find it, so that no output uses it undefined. */
static void await_definition(char *base, dft__name *name) {
  _Atomic uint32_t *list = &header_at(base)->pending_paths;
  uint32_t head = DFT__GET(*list);
  do DFT__SET(name->pending, head);
  while (!atomic_compare_exchange_weak_explicit(list, &head, ref_of(base, name), memory_order_release,
                                                memory_order_relaxed));
}

/* Into its bucket, in which everything from `searched` on is known to be something else. */
static uint32_t add(char *base, dft__name *name, uint32_t searched) {
  _Atomic uint32_t *bucket = &header_at(base)->bucket[name->hash % DFT__BUCKETS];
  uint32_t head = searched;
  for (;;) {
    uint32_t found;
    DFT__SET(name->next, head);
    if (atomic_compare_exchange_strong_explicit(bucket, &head, ref_of(base, name), memory_order_release,
                                                memory_order_acquire)) {
      return ref_of(base, name);
    }
    found = dft__name_search(base, head, searched, name->hash, name->use, name->cat, name->text, name->len);
    if (found) {
      DFT__SET(name->is_dead, 1);
      return found;
    }
    searched = head;
  }
}

static int is_full(const dft__header *header) {
  return DFT__GET(header->name_count) >= DFT__NAMES_MAX;
}

/* A full registry no longer changes. Bits of the hashes that it holds spare names that are not there, of which there
 * may be millions, a walk along their bucket. One that comes in late has none, and travels in records all the same. */
#define FULL_BITS (1u << 19)
static _Atomic uint64_t full_bits[FULL_BITS / 64];

static _Atomic uint64_t *full_word(uint64_t hash) {
  return &full_bits[hash % FULL_BITS / 64];
}

static void know_all(dft__spool *spool) {
  uint64_t before = dft__signals_block();
  uint32_t none = 0;
  if (atomic_compare_exchange_strong(&spool->names_known, &none, 1)) {
    for (uint32_t i = 0; i < FULL_BITS / 64; i++) DFT__SET(full_bits[i], 0);
    for (uint32_t i = 0; i < DFT__BUCKETS; i++) {
      uint32_t ref = DFT__ACQUIRE(spool->header->bucket[i]);
      for (; ref; ref = DFT__GET(at(spool->base, ref)->next)) {
        uint64_t hash = at(spool->base, ref)->hash;
        DFT__SET(*full_word(hash), DFT__GET(*full_word(hash)) | UINT64_C(1) << hash % 64);
      }
    }
    DFT__RELEASE(spool->names_known, 2);
  }
  dft__signals_restore(before);
}

/* Nonzero when it is certainly not there, and there is no room for it. */
static int is_beyond(dft__spool *spool, enum dft__name_use use, uint32_t cat, const char *text, size_t len) {
  uint64_t hash;
  if (DFT__LIKELY(!is_full(spool->header))) return 0;
  if (!DFT__GET(spool->names_known)) know_all(spool);
  if (DFT__ACQUIRE(spool->names_known) != 2) return 0;
  hash = dft__name_hash(use, cat, text, len);
  return !(DFT__GET(*full_word(hash)) >> hash % 64 & 1);
}

/* Signals are blocked: a handler that forks and records would replace this spool by another one. */
static uint32_t intern_blocked(dft__spool *spool, enum dft__name_use use, uint32_t cat, const char *text, size_t len) {
  uint64_t hash = dft__name_hash(use, cat, text, len);
  uint32_t head = DFT__ACQUIRE(spool->header->bucket[hash % DFT__BUCKETS]);
  uint32_t found = dft__name_search(spool->base, head, 0, hash, use, cat, text, len);
  uint64_t offset;
  dft__name *name;
  if (found) return found;
  if (is_full(spool->header)) return 0;
  offset = take_bytes(spool, bytes_of(len));
  if (!offset) return 0;
  name = fill(spool->base, offset, hash, use, cat, text, len);
  if (use == DFT__NAME_PATH) await_definition(spool->base, name);
  return add(spool->base, name, head);
}

uint32_t dft__intern(dft__spool *spool, enum dft__name_use use, uint32_t cat, const char *text, size_t len) {
  uint32_t ref;
  uint64_t before;
  if (is_beyond(spool, use, cat, text, len)) return 0;
  ref = dft__name_find(spool->base, use, cat, text, len);
  if (ref || is_full(spool->header)) return ref;
  before = dft__signals_block();
  ref = intern_blocked(spool, use, cat, text, len);
  dft__signals_restore(before);
  return ref;
}

static uint32_t with_mute(const char *base, uint32_t ref) {
  return ref | (((const dft__name *)(base + (uint64_t)ref * 16))->is_muted ? DFT__SITE_MUTED : 0);
}

uint32_t dft__intern_site(dft__spool *spool, const char *name, size_t name_len, const char *cat, size_t cat_len) {
  const char *base = spool->base;
  uint32_t cat_ref = dft__name_find(base, DFT__NAME_TEXT, 0, cat, cat_len);
  uint32_t ref = 0;
  uint64_t before;
  if (cat_ref && !is_beyond(spool, DFT__NAME_SITE, cat_ref, name, name_len))
    ref = dft__name_find(base, DFT__NAME_SITE, cat_ref, name, name_len);
  if (ref) return with_mute(base, ref);
  if (is_full(spool->header)) return dft__category_is_muted(cat, cat_len) ? DFT__SITE_MUTED : 0;
  before = dft__signals_block();
  cat_ref = intern_blocked(spool, DFT__NAME_TEXT, 0, cat, cat_len);
  if (cat_ref) ref = intern_blocked(spool, DFT__NAME_SITE, cat_ref, name, name_len);
  if (ref) ref = with_mute(spool->base, ref);
  else if (dft__category_is_muted(cat, cat_len)) ref = DFT__SITE_MUTED;
  dft__signals_restore(before);
  return ref;
}

/* ---- Paths -------------------------------------------------------------------------------------------------------- */

/* Programs open tens of thousands of files, and the same ones again: where each was found last, in lines of the processor's
 * cache. A line that has never been full knows all paths that belong to it.
 *   session 16 | hash 16 | reference 32 */
#define FOUND_LINES 4096u
#define FOUND_WAYS 8u
static DFT__LARGE _Alignas(64) _Atomic uint64_t found_paths[FOUND_LINES][FOUND_WAYS];

/* The first paths of a session are not kept there, because a short process would pay a page for each: the buckets are quick
 * enough. By their hashes, so that a line does not take one of them for new. */
#define EARLY_NAMES 96u
static _Atomic uint64_t early_paths[16];

static _Atomic uint64_t *early_word(uint64_t hash) {
  return &early_paths[(hash >> 38) % 16];
}

static uint64_t early_bit(uint64_t hash) {
  return UINT64_C(1) << (hash >> 32) % 64;
}

/* 0 when it is not there; *is_new then says whether it is nowhere else. */
static uint32_t find_again(const char *base, uint64_t tag, uint64_t hash, const char *text, size_t len, int *is_new) {
  _Atomic uint64_t *line = found_paths[hash % FOUND_LINES];
  for (uint32_t i = 0; i < FOUND_WAYS; i++) {
    uint64_t seen = DFT__ACQUIRE(line[i]);
    const dft__name *name = (const dft__name *)(base + (uint64_t)(uint32_t)seen * 16);
    if (seen >> 32 == tag && name->hash == hash && name->len == len && dft__same_bytes(name->text, text, len))
      return (uint32_t)seen;
  }
  *is_new = DFT__GET(line[FOUND_WAYS - 1]) >> 48 != tag >> 16 && !(DFT__GET(*early_word(hash)) & early_bit(hash));
  return 0;
}

/* In the first place that another session left, or else in any. */
static void remember(uint64_t tag, uint64_t hash, uint32_t ref) {
  _Atomic uint64_t *line = found_paths[hash % FOUND_LINES];
  for (uint32_t i = 0; i < FOUND_WAYS; i++) {
    uint64_t seen = DFT__GET(line[i]);
    while (seen >> 48 != tag >> 16) {
      if (atomic_compare_exchange_weak(&line[i], &seen, tag << 32 | ref)) return;
    }
  }
  DFT__RELEASE(line[(hash >> 32) % FOUND_WAYS], tag << 32 | ref);
}

/* Room that is left in the chunk of names in use; 0: none. */
static uint64_t take_ready(dft__header *header, uint64_t bytes) {
  uint64_t cursor = DFT__GET(header->name_cursor);
  do {
    if (bytes > dft__area_room(cursor)) return 0;
  } while (!atomic_compare_exchange_weak(
    &header->name_cursor, &cursor,
    dft__area(dft__area_offset(cursor) + bytes, dft__area_room(cursor) - (uint32_t)bytes)));
  return dft__area_offset(cursor);
}

static void keep(int is_early, uint64_t tag, uint64_t hash, uint32_t ref) {
  if (is_early) atomic_fetch_or(early_word(hash), early_bit(hash));
  else remember(tag, hash, ref);
}

/* A new path is remembered before it is in its bucket, whose head was read before anything was looked up: of two threads
 * with the same path one finds what the other made. */
static uint32_t make_path(char *base, uint64_t offset, int is_early, uint64_t tag, uint64_t hash, uint32_t head,
                          const char *text, size_t len) {
  dft__name *name = fill(base, offset, hash, DFT__NAME_PATH, 0, text, len);
  await_definition(base, name);
  keep(is_early, tag, hash, ref_of(base, name));
  return add(base, name, head);
}

/* Works on the memory of the caller's session alone, so that signals need not be blocked: in a child that a handler forked
 * it goes on in the copy of its parent's. */
uint32_t dft__intern_path(char *base, uint64_t session, const char *text, size_t len) {
  dft__header *header = header_at(base);
  uint64_t hash = dft__name_hash(DFT__NAME_PATH, 0, text, len);
  uint64_t tag = (session & 0xffff) << 16 | hash >> 48;
  uint32_t head = DFT__ACQUIRE(header->bucket[hash % DFT__BUCKETS]);
  int is_early = DFT__GET(header->name_count) < EARLY_NAMES;
  int is_new = 0;
  uint64_t offset;
  uint32_t ref = is_early ? 0 : find_again(base, tag, hash, text, len, &is_new);
  if (ref) return ref;
  if (!is_new && (ref = dft__name_search(base, head, 0, hash, DFT__NAME_PATH, 0, text, len)) != 0) {
    if (!is_early) remember(tag, hash, ref);
    return ref;
  }
  if (DFT__GET(header->name_count) >= DFT__NAMES_MAX - DFT__NAMES_KEPT) return 0;
  offset = take_ready(header, bytes_of(len));
  if (offset) return make_path(base, offset, is_early, tag, hash, head, text, len);
  if (DFT__GET(header->name_chunks) >= (DFT__NAMES_BYTES >> DFT__BLOCK_LOG) - 1) return 0;
  ref = dft__intern(dft__thread_spool(), DFT__NAME_PATH, 0, text, len);
  if (ref) keep(is_early, tag, hash, ref);
  return ref;
}

const dft__name *dft__name_at(const dft__spool *spool, uint32_t ref) {
  uint64_t offset = (uint64_t)ref * 16;
  uint64_t end = DFT__GET(spool->header->file_bytes);
  const dft__name *name = (const dft__name *)(spool->base + offset);
  if (offset < DFT__HEADER_BYTES || offset + sizeof *name > end) return NULL;
  return name->len <= DFT__NAME_MAX && offset + sizeof *name + name->len <= end ? name : NULL;
}

/* ---- The names of an earlier image ---------------------------------------------------------------------------------- */

static int is_bucket_fine(const dft__spool *spool, uint32_t bucket) {
  uint32_t ref = DFT__GET(spool->header->bucket[bucket]);
  for (uint32_t steps = 0; ref; steps++) {
    const dft__name *name = dft__name_at(spool, ref);
    if (!name || steps == DFT__NAMES_MAX || name->hash % DFT__BUCKETS != bucket) return 0;
    ref = DFT__GET(name->next);
  }
  return 1;
}

int dft__intern_is_fine(const dft__spool *spool) {
  uint64_t cursor = DFT__GET(spool->header->name_cursor);
  uint64_t offset = dft__area_offset(cursor);
  if (cursor && (offset < DFT__HEADER_BYTES || offset % 16 ||
                 offset + dft__area_room(cursor) > DFT__GET(spool->header->file_bytes))) {
    return 0;
  }
  for (uint32_t bucket = 0; bucket < DFT__BUCKETS; bucket++) {
    if (!is_bucket_fine(spool, bucket)) return 0;
  }
  return 1;
}

void dft__intern_know(const dft__spool *spool) {
  for (uint32_t bucket = 0; bucket < DFT__BUCKETS; bucket++) {
    for (uint32_t ref = DFT__GET(spool->header->bucket[bucket]); ref;) {
      const dft__name *name = dft__name_own(spool, ref);
      if (name->use == DFT__NAME_PATH) atomic_fetch_or(early_word(name->hash), early_bit(name->hash));
      ref = DFT__GET(name->next);
    }
  }
}
