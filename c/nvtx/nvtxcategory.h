/* nvtxcategory.h - NVTX's categories: numbers within a domain, which a program may name.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_NVTXCATEGORY_H
#define DFT_NVTXCATEGORY_H

#include "nvtxname.h"

/* Names a category; the last name counts. */
void dft__nvtx_category_name(const dft__nvtx_name *domain, uint32_t category, const char *text, size_t len);

/* The argument `category` of an event: the category's name, or its number. */
dft_arg dft__nvtx_category_arg(const dft__nvtx_name *domain, uint32_t category);

#endif
