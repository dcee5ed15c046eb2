/* intern.h - names to references: texts that many records share are kept once, in the spool.
 *
 * Lock-free, allocation-free, safe in a signal handler. A reference is the name's offset / 16 and never 0.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_INTERN_H
#define DFT_INTERN_H

#include "spool.h"

/* Finds or registers a text; 0 when there is no room for more. len is at most DFT__NAME_MAX. cat is the reference of a
 * SITE's category and 0 for all others. */
uint32_t dft__intern(dft__spool *spool, enum dft__name_use use, uint32_t cat, const char *text, size_t len);

/* A site, with its category. is_muted is asked when the site is new. */
uint32_t dft__intern_site(dft__spool *spool, const char *name, size_t name_len, const char *cat, size_t cat_len);

/* Tells dft__intern_site which categories are not recorded. */
int dft__category_is_muted(const char *cat, size_t len);

/* The name behind a reference; NULL when it lies outside the spool. */
const dft__name *dft__name_at(const dft__spool *spool, uint32_t ref);

/* The same for references that this process made. */
static inline const dft__name *dft__name_own(const dft__spool *spool, uint32_t ref) {
  return (const dft__name *)(spool->base + (uint64_t)ref * 16);
}

#endif
