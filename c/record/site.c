/* site.c - sites: static ones, sites by name, and sites made while the program runs.
 * SPDX-License-Identifier: MIT */
#include "site.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "item.h"

/* ---- References ---------------------------------------------------------------------------------------------------- */

_Atomic uint64_t dft__recent_sites[DFT__RECENT_SITES];

const char *dft__name_or_default(const char *name, size_t *len) {
  if (!name || !*len) {
    *len = 9;
    return "(unnamed)";
  }
  *len = dft__text_limit(name, *len, DFT__NAME_MAX);
  return name;
}

uint32_t dft__site_register(const dft__own *own, dft_site *site) {
  size_t name_len = site->name ? strlen(site->name) : 0;
  size_t cat_len = site->cat ? strlen(site->cat) : 0;
  const char *name = dft__name_or_default(site->name, &name_len);
  const char *cat = dft__name_or_default(site->cat, &cat_len);
  uint32_t ref = dft__intern_site(dft__thread_spool(), name, name_len, cat, cat_len);
  if (ref) __atomic_store_n(&site->cache, own->session << 32 | ref, __ATOMIC_RELAXED);
  return ref;
}

uint32_t dft__site_named(const dft__own *own, const char *name, size_t name_len, const char *cat, size_t cat_len) {
  uint32_t ref = dft__site_recall(own, name, name_len, cat, cat_len);
  if (ref) return ref;
  ref = dft__intern_site(dft__thread_spool(), name, name_len, cat, cat_len);
  if (ref && !(ref & DFT__SITE_MUTED)) DFT__RELEASE(*dft__recent_slot(name, cat), own->session << 32 | ref);
  return ref;
}

/* ---- Sites made at run time ---------------------------------------------------------------------------------------- */

/* For languages that have no static ones. A site is made once for a name and category and kept for good, so that a call in a loop
 * costs time but no memory. The lists hold complete sites and grow at their head only: there is no lock, and nothing that a
 * fork could leave half done. */
enum { LISTS = 256 };

typedef struct made {
  struct made *next;
  uint64_t hash;
  size_t name_len, cat_len;
  dft_site site;
  char text[]; /* name, 0, category, 0 */
} made;

static _Atomic(made *) lists[LISTS];

static made *find(made *first, const made *wanted, const char *name, const char *cat) {
  for (made *one = first; one; one = one->next) {
    if (one->hash == wanted->hash && one->name_len == wanted->name_len && one->cat_len == wanted->cat_len &&
        memcmp(one->site.name, name, one->name_len) == 0 && memcmp(one->site.cat, cat, one->cat_len) == 0) {
      return one;
    }
  }
  return NULL;
}

static made *make(const made *wanted, const char *name, const char *cat) {
  int saved = errno;
  made *one = malloc(sizeof *one + wanted->name_len + wanted->cat_len + 2);
  errno = saved;
  if (!one) return NULL;
  *one = *wanted;
  memcpy(one->text, name, one->name_len);
  one->text[one->name_len] = 0;
  memcpy(one->text + one->name_len + 1, cat, one->cat_len);
  one->text[one->name_len + 1 + one->cat_len] = 0;
  one->site = (dft_site)DFT_SITE(one->text, one->text + one->name_len + 1);
  return one;
}

dft_site *dft_site_declare_n(const char *name, size_t name_len, const char *cat, size_t cat_len) {
  made wanted = {.name_len = name_len, .cat_len = cat_len};
  made *first, *one;
  _Atomic(made *) *list;
  if (!name) name = "", wanted.name_len = 0;
  if (!cat) cat = "", wanted.cat_len = 0;
  wanted.hash = dft__hash(name, wanted.name_len, dft__hash(cat, wanted.cat_len, 0));
  list = &lists[wanted.hash % LISTS];
  first = DFT__ACQUIRE(*list);
  one = find(first, &wanted, name, cat);
  if (one) return &one->site;
  one = make(&wanted, name, cat);
  if (!one) return NULL;
  one->next = first;
  while (!atomic_compare_exchange_strong_explicit(list, &one->next, one, memory_order_release, memory_order_acquire)) {
    made *other = find(one->next, &wanted, name, cat);
    if (!other) continue;
    free(one);
    return &other->site;
  }
  return &one->site;
}
