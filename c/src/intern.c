/* intern.c - names to references.
 *
 * Buckets of linked names. A name is complete before it is linked, links are only ever put in front, and whoever loses
 * the race for a bucket looks at what came in before trying again: a text is registered once.
 * SPDX-License-Identifier: MIT */
#include "intern.h"

#include "signals.h"

static dft__name *at(dft__spool *spool, uint32_t ref) {
  return (dft__name *)(spool->base + (uint64_t)ref * 16);
}

static uint32_t ref_of(const dft__spool *spool, const dft__name *name) {
  return (uint32_t)((uint64_t)((const char *)name - spool->base) / 16);
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
      left = (UINT64_C(1) << chunk->size_log) - DFT__CELL - bytes;
      if (atomic_compare_exchange_strong(&header->name_cursor, &cursor, dft__area(fresh + bytes, (uint32_t)left))) {
        if (chunk->size_log == DFT__BLOCK_LOG) atomic_fetch_add(&header->name_chunks, 1);
        return fresh;
      }
      dft__chunk_give(spool, chunk);
    }
  }
}

static dft__name *make(dft__spool *spool, uint64_t hash, uint32_t use, uint32_t cat, const char *text, size_t len) {
  uint64_t bytes = (sizeof(dft__name) + len + 15) & ~UINT64_C(15);
  uint64_t offset;
  dft__name *name;
  if (DFT__GET(spool->header->name_count) >= DFT__NAMES_MAX) return NULL;
  offset = take_bytes(spool, bytes);
  if (!offset) return NULL;
  name = (dft__name *)(spool->base + offset);
  name->hash = hash;
  DFT__SET(name->defined, 0);
  name->index = atomic_fetch_add(&spool->header->name_count, 1) + 1;
  name->use = use;
  name->cat = cat;
  name->len = (uint32_t)len;
  name->is_muted = use == DFT__NAME_SITE && cat && dft__category_is_muted(at(spool, cat)->text, at(spool, cat)->len);
  DFT__SET(name->is_dead, 0);
  memcpy(name->text, text, len);
  return name;
}

/* Into the list of paths that wait for a definition; before others can find it, so that no output uses it undefined. */
static void await_definition(dft__spool *spool, dft__name *name) {
  uint32_t head = DFT__GET(spool->header->pending_paths);
  do DFT__SET(name->pending, head);
  while (!atomic_compare_exchange_weak_explicit(&spool->header->pending_paths, &head, ref_of(spool, name),
                                                memory_order_release, memory_order_relaxed));
}

/* Signals are blocked: a handler that forks and records would put another spool in the place of this one. */
static uint32_t intern_blocked(dft__spool *spool, enum dft__name_use use, uint32_t cat, const char *text, size_t len) {
  uint64_t hash = dft__name_hash(use, cat, text, len);
  _Atomic uint32_t *bucket = &spool->header->bucket[hash % DFT__BUCKETS];
  uint32_t head = DFT__ACQUIRE(*bucket);
  uint32_t found = dft__name_search(spool->base, head, 0, hash, use, cat, text, len);
  uint32_t searched = head;
  dft__name *name;
  if (found) return found;
  name = make(spool, hash, use, cat, text, len);
  if (!name) return 0;
  if (use == DFT__NAME_PATH) await_definition(spool, name);
  for (;;) {
    DFT__SET(name->next, head);
    if (atomic_compare_exchange_strong_explicit(bucket, &head, ref_of(spool, name), memory_order_release,
                                                memory_order_acquire)) {
      return ref_of(spool, name);
    }
    found = dft__name_search(spool->base, head, searched, hash, use, cat, text, len);
    if (found) {
      DFT__SET(name->is_dead, 1);
      return found;
    }
    searched = head;
  }
}

uint32_t dft__intern(dft__spool *spool, enum dft__name_use use, uint32_t cat, const char *text, size_t len) {
  uint32_t ref = dft__name_find(spool->base, use, cat, text, len);
  uint64_t before;
  if (ref) return ref;
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
  uint32_t ref = cat_ref ? dft__name_find(base, DFT__NAME_SITE, cat_ref, name, name_len) : 0;
  uint64_t before;
  if (ref) return with_mute(base, ref);
  before = dft__signals_block();
  cat_ref = intern_blocked(spool, DFT__NAME_TEXT, 0, cat, cat_len);
  if (cat_ref) ref = intern_blocked(spool, DFT__NAME_SITE, cat_ref, name, name_len);
  if (ref) ref = with_mute(spool->base, ref);
  else if (dft__category_is_muted(cat, cat_len)) ref = DFT__SITE_MUTED;
  dft__signals_restore(before);
  return ref;
}

const dft__name *dft__name_at(const dft__spool *spool, uint32_t ref) {
  uint64_t offset = (uint64_t)ref * 16;
  uint64_t end = DFT__GET(spool->header->file_bytes);
  const dft__name *name = (const dft__name *)(spool->base + offset);
  if (offset < DFT__HEADER_BYTES || offset + sizeof *name > end) return NULL;
  return name->len <= DFT__NAME_MAX && offset + sizeof *name + name->len <= end ? name : NULL;
}
