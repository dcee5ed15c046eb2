/* intern.h - names to references: texts that many records share are kept once, in the spool.
 *
 * Lock-free, allocation-free, safe in a signal handler. A reference is the name's offset / 16 and never 0.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_INTERN_H
#define DFT_INTERN_H

#include "base/hash.h"
#include "chunk.h"

/* Files are known by the hash of their path alone, in every process. */
static inline uint64_t dft__name_hash(uint32_t use, uint32_t cat, const char *text, size_t len) {
  uint64_t seed = use == DFT__NAME_SITE || use == DFT__NAME_KEY ? (uint64_t)cat << 8 | use : 0;
  return dft__hash(text, len, seed);
}

/* As memcmp, for texts that are short and mostly the same. */
static inline int dft__same_bytes(const char *a, const char *b, size_t len) {
  uint64_t x, y;
  if (len < 4) return dft__hash_load(a, len) == dft__hash_load(b, len);
  if (len < 8) {
    uint32_t v[4];
    memcpy(&v[0], a, 4), memcpy(&v[1], b, 4), memcpy(&v[2], a + len - 4, 4), memcpy(&v[3], b + len - 4, 4);
    return !((v[0] ^ v[1]) | (v[2] ^ v[3]));
  }
  for (; len > 8; len -= 8, a += 8, b += 8) {
    memcpy(&x, a, 8);
    memcpy(&y, b, 8);
    if (x != y) return 0;
  }
  memcpy(&x, a + len - 8, 8);
  memcpy(&y, b + len - 8, 8);
  return x == y;
}

/* From `ref` on, up to the name that was the first when the search before ended; 0 when it is not there. */
static inline uint32_t dft__name_search(const char *base, uint32_t ref, uint32_t stop, uint64_t hash, uint32_t use,
                                        uint32_t cat, const char *text, size_t len) {
  while (ref && ref != stop) {
    const dft__name *name = (const dft__name *)(base + (uint64_t)ref * 16);
    if (name->hash == hash && name->len == len && name->use == use && name->cat == cat &&
        dft__same_bytes(name->text, text, len)) {
      return ref;
    }
    ref = DFT__GET(name->next);
  }
  return 0;
}

/* Only finds. */
static inline uint32_t dft__name_find(const char *base, enum dft__name_use use, uint32_t cat, const char *text,
                                      size_t len) {
  uint64_t hash = dft__name_hash(use, cat, text, len);
  uint32_t head = DFT__ACQUIRE(((dft__header *)(uintptr_t)base)->bucket[hash % DFT__BUCKETS]);
  return dft__name_search(base, head, 0, hash, use, cat, text, len);
}

/* Finds or registers a text; 0 when there is no room for more. len is at most DFT__NAME_MAX. cat is the reference of a
 * SITE's category and 0 for all others. */
uint32_t dft__intern(dft__spool *spool, enum dft__name_use use, uint32_t cat, const char *text, size_t len);

/* The same for a path of the session at `base`: without a system call, but for a new chunk once in hundreds. Leaves room for
 * names of other kinds. */
#define DFT__NAMES_KEPT 4096u
uint32_t dft__intern_path(char *base, uint64_t session, const char *text, size_t len);

/* A site, with its category. With DFT__SITE_MUTED when that is not recorded, also for one that could not be registered. */
#define DFT__SITE_MUTED (1u << 31)
uint32_t dft__intern_site(dft__spool *spool, const char *name, size_t name_len, const char *cat, size_t cat_len);

/* Of a spool that another image filled: whether what is followed here leads anywhere else; and makes its paths known. */
int dft__intern_is_fine(const dft__spool *spool);
void dft__intern_know(const dft__spool *spool);

/* The name behind a reference; NULL when it lies outside the spool. */
const dft__name *dft__name_at(const dft__spool *spool, uint32_t ref);

/* The same for references that this process made. */
static inline const dft__name *dft__name_own(const dft__spool *spool, uint32_t ref) {
  return (const dft__name *)(spool->base + (uint64_t)ref * 16);
}

#endif
