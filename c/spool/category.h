/* category.h - which categories are recorded, by DFTRACER_CATEGORIES.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_CATEGORY_H
#define DFT_CATEGORY_H

#include <stddef.h>

/* Whether events of this category are left out. */
int dft__category_is_muted(const char *cat, size_t len);

/* At the end of a trace: reports a misspelt name in DFTRACER_CATEGORIES. */
void dft__category_report(void);

#endif
