/* site.c - sites made while the program runs, for languages that have no static ones.
 *
 * Made once for a name and category and kept for good, so that a call in a loop costs time but no memory. Lists of
 * complete sites, put in front only: no lock, nothing that a fork could leave half done.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "spool/intern.h"

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
