/* nvtxname.c - names: lists to find them by text, and a table to find them by number.
 * SPDX-License-Identifier: MIT */
#include "nvtxname.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/hash.h"

#define DEFAULT_DOMAIN "NVTX"

enum { LISTS = 1024, BLOCK_NAMES = 1024, BLOCKS = 1024 };

static _Atomic(dft__nvtx_name *) lists[LISTS];

typedef _Atomic(dft__nvtx_name *) name_block[BLOCK_NAMES];
static _Atomic(name_block *) blocks[BLOCKS];
static _Atomic uint32_t last_number;

static dft__nvtx_name default_domain = {
  .scope = DFT__NVTX_SCOPE_DOMAINS, .len = sizeof DEFAULT_DOMAIN - 1, .site = DFT_SITE(DEFAULT_DOMAIN, DEFAULT_DOMAIN)};

/* ---- By number ------------------------------------------------------------------------------------------------------ */

static dft__nvtx_name *name_numbered(uintptr_t number) {
  name_block *block;
  if (!number || number >= (uintptr_t)BLOCKS * BLOCK_NAMES) return NULL;
  block = atomic_load_explicit(&blocks[number / BLOCK_NAMES], memory_order_acquire);
  return block ? atomic_load_explicit(&(*block)[number % BLOCK_NAMES], memory_order_acquire) : NULL;
}

/* NULL when there is no memory. */
static name_block *block_of(uint32_t number) {
  _Atomic(name_block *) *place = &blocks[number / BLOCK_NAMES];
  name_block *block = atomic_load_explicit(place, memory_order_acquire), *made;
  if (block) return block;
  made = calloc(1, sizeof *made);
  if (!made) return NULL;
  if (atomic_compare_exchange_strong_explicit(place, &block, made, memory_order_acq_rel, memory_order_acquire))
    return made;
  free(made);
  return block;
}

/* Gives the name its number; zero when there is none left. */
static int enter_number(dft__nvtx_name *name) {
  uint32_t number = atomic_load_explicit(&last_number, memory_order_relaxed);
  name_block *block;
  do {
    if (number + 1 >= (uint32_t)BLOCKS * BLOCK_NAMES) return 0;
  } while (!atomic_compare_exchange_weak_explicit(&last_number, &number, number + 1, memory_order_relaxed,
                                                  memory_order_relaxed));
  name->number = number + 1;
  block = block_of(name->number);
  if (!block) return 0;
  atomic_store_explicit(&(*block)[name->number % BLOCK_NAMES], name, memory_order_release);
  return 1;
}

/* ---- By text -------------------------------------------------------------------------------------------------------- */

static dft__nvtx_name *find(dft__nvtx_name *first, const dft__nvtx_name *wanted, const char *text) {
  for (dft__nvtx_name *one = first; one; one = one->next) {
    if (one->hash == wanted->hash && one->scope == wanted->scope && one->len == wanted->len &&
        memcmp(one->site.name, text, one->len) == 0) {
      return one;
    }
  }
  return NULL;
}

static dft__nvtx_name *make(const dft__nvtx_name *wanted, const char *text) {
  dft__nvtx_name *one = malloc(sizeof *one + wanted->len + 1);
  char *copy = (char *)(one + 1);
  if (!one) return NULL;
  *one = *wanted;
  memcpy(copy, text, wanted->len);
  copy[wanted->len] = '\0';
  one->site.name = one->site.cat = copy;
  if (wanted->scope < DFT__NVTX_SCOPE_CATEGORIES) {
    const dft__nvtx_name *domain = wanted->scope ? name_numbered(wanted->scope) : &default_domain;
    one->site.cat = domain ? domain->site.name : DEFAULT_DOMAIN;
  }
  return one;
}

/* Two threads that add the same text at once may make two names of it. Both are right. */
dft__nvtx_name *dft__nvtx_name_add(uint32_t scope, const char *text, size_t len) {
  dft__nvtx_name wanted = {.scope = scope, .len = len};
  dft__nvtx_name *one;
  _Atomic(dft__nvtx_name *) *list;
  int saved = errno;
  if (!text) return NULL;
  wanted.hash = dft__hash(text, len, scope);
  list = &lists[wanted.hash % LISTS];
  one = find(atomic_load_explicit(list, memory_order_acquire), &wanted, text);
  if (one) return one;
  one = make(&wanted, text);
  if (one && !enter_number(one)) {
    free(one);
    one = NULL;
  }
  errno = saved;
  if (!one) return NULL;
  one->next = atomic_load_explicit(list, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(list, &one->next, one, memory_order_release, memory_order_relaxed)) {
  }
  return one;
}

/* ---- Handles -------------------------------------------------------------------------------------------------------- */

dft__nvtx_handle dft__nvtx_name_handle(const dft__nvtx_name *name) {
  return (dft__nvtx_handle)(uintptr_t)(name ? name->number : 0);
}

dft__nvtx_name *dft__nvtx_name_domain(dft__nvtx_handle handle) {
  dft__nvtx_name *name = handle ? name_numbered((uintptr_t)handle) : NULL;
  return name && name->scope == DFT__NVTX_SCOPE_DOMAINS ? name : &default_domain;
}

dft__nvtx_name *dft__nvtx_name_string(dft__nvtx_handle handle) {
  dft__nvtx_name *name = name_numbered((uintptr_t)handle);
  return name && name->scope < DFT__NVTX_SCOPE_CATEGORIES ? name : NULL;
}
