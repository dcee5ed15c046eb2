/* nvtxcategory.c - categories and their names, in lists that grow at their heads only.
 * SPDX-License-Identifier: MIT */
#include "nvtxcategory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { LISTS = 256 };

typedef struct nvtx_category {
  struct nvtx_category *next; /* set before others see it */
  uint32_t domain, number;
  _Atomic(const dft__nvtx_name *) name;
} nvtx_category;

static _Atomic(nvtx_category *) lists[LISTS];

static _Atomic(nvtx_category *) *list_of(const dft__nvtx_name *domain, uint32_t number) {
  return &lists[(domain->number * 31 + number) % LISTS];
}

static nvtx_category *find(nvtx_category *one, const dft__nvtx_name *domain, uint32_t number) {
  while (one && (one->domain != domain->number || one->number != number)) one = one->next;
  return one;
}

void dft__nvtx_category_name(const dft__nvtx_name *domain, uint32_t category, const char *text, size_t len) {
  const dft__nvtx_name *name = dft__nvtx_name_add(DFT__NVTX_SCOPE_CATEGORIES, text, len);
  _Atomic(nvtx_category *) *list = list_of(domain, category);
  nvtx_category *one = find(atomic_load_explicit(list, memory_order_acquire), domain, category);
  int saved = errno;
  if (one) {
    atomic_store_explicit(&one->name, name, memory_order_release);
    return;
  }
  one = malloc(sizeof *one);
  errno = saved;
  if (!one) return;
  one->domain = domain->number;
  one->number = category;
  atomic_init(&one->name, name);
  one->next = atomic_load_explicit(list, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(list, &one->next, one, memory_order_release, memory_order_relaxed)) {
  }
}

dft_arg dft__nvtx_category_arg(const dft__nvtx_name *domain, uint32_t category) {
  static dft_key key = DFT_KEY("category");
  nvtx_category *one = find(atomic_load_explicit(list_of(domain, category), memory_order_acquire), domain, category);
  const dft__nvtx_name *name = one ? atomic_load_explicit(&one->name, memory_order_acquire) : NULL;
  dft_arg arg = {.key = &key, .type = DFT_UINT};
  if (name) {
    arg.type = DFT_STRING;
    arg.value.s.text = name->site.name;
    arg.value.s.len = name->len;
  } else {
    arg.value.u = category;
  }
  return arg;
}
