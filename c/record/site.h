/* site.h - sites: the name and category that many events share, known to the spool by a reference.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_SITE_H
#define DFT_SITE_H

#include "spool/intern.h"
#include "thread.h"

/* The name, cut to what the registry takes, or a default where there is none. */
const char *dft__name_or_default(const char *name, size_t *len);

/* Calls that were intercepted; a trace of nothing else is not an annotated one. */
static inline int dft__is_io(const char *cat) {
  return cat && (strcmp(cat, "POSIX") == 0 || strcmp(cat, "STDIO") == 0 || strcmp(cat, "MPI") == 0 ||
                 strcmp(cat, "MPIIO") == 0);
}

/* Something other than an I/O call was recorded. In the call's own spool, because the session may have ended meanwhile. */
static inline void dft__note_annotated(const dft__own *own) {
  dft__header *header = (dft__header *)own->base;
  if (DFT__UNLIKELY(!DFT__GET(header->annotated))) DFT__SET(header->annotated, 1);
}

/* The reference of a site, as dft__intern_site returns it. */
uint32_t dft__site_register(const dft__own *own, dft_site *site);
static inline uint32_t dft__site_ref(const dft__own *own, dft_site *site) {
  uint64_t cache = __atomic_load_n(&site->cache, __ATOMIC_RELAXED);
  if (DFT__LIKELY((uint32_t)(cache >> 32) == (uint32_t)own->session)) return (uint32_t)cache;
  return dft__site_register(own, site);
}

/* The same by name and category; the site that was last used at these addresses is found without hashing. */
uint32_t dft__site_named(const dft__own *own, const char *name, size_t name_len, const char *cat, size_t cat_len);

/* References of sites by the address of their texts, which stays the same in a loop; with the session, as in a dft_site. The
 * texts are compared, so a slot that is out of date only costs time. */
#define DFT__RECENT_SITES 256
extern _Atomic uint64_t dft__recent_sites[DFT__RECENT_SITES] __attribute__((visibility("hidden")));

static inline _Atomic uint64_t *dft__recent_slot(const char *name, const char *cat) {
  return &dft__recent_sites[((uintptr_t)name ^ (uintptr_t)name >> 8 ^ (uintptr_t)cat) % DFT__RECENT_SITES];
}

/* 0 when the site is not there. */
static inline uint32_t dft__site_recall(const dft__own *own, const char *name, size_t name_len, const char *cat,
                                        size_t cat_len) {
  uint64_t seen = DFT__ACQUIRE(*dft__recent_slot(name, cat)); /* pairs with the store in dft__site_named */
  const dft__name *site = (const dft__name *)(own->base + (seen & UINT32_MAX) * 16);
  const dft__name *in;
  if (DFT__UNLIKELY((uint32_t)(seen >> 32) != (uint32_t)own->session || site->len != name_len)) return 0;
  in = (const dft__name *)(own->base + (uint64_t)site->cat * 16);
  if (DFT__UNLIKELY(in->len != cat_len || !dft__same_bytes(site->text, name, name_len))) return 0;
  return DFT__LIKELY(dft__same_bytes(in->text, cat, cat_len)) ? (uint32_t)seen : 0;
}

#endif
