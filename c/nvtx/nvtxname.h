/* nvtxname.h - names that a program registers with NVTX: domains, strings and names of categories.
 *
 * A name is made once and kept until the process ends, so a program that registers the same ones in a loop takes no more
 * memory. A handle is a number, never an address: a handle from elsewhere is not followed, only not found.
 *
 * Threads   Any. There is no lock, so a fork leaves nothing half done. Not in signal handlers: it allocates.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_NVTXNAME_H
#define DFT_NVTXNAME_H

#include <dftracer/dft.h>

#include "nvtxabi.h"

/* The scope of a registered string is the number of its domain; others have one of these. */
#define DFT__NVTX_SCOPE_DOMAINS UINT32_MAX
#define DFT__NVTX_SCOPE_CATEGORIES (UINT32_MAX - 1)

typedef struct dft__nvtx_name {
  struct dft__nvtx_name *next; /* in its list; set before others see it */
  uint64_t hash;
  uint32_t scope;
  uint32_t number; /* the handle; 0 is the default domain */
  size_t len;
  dft_site site; /* the text; its category is the name of a string's domain, else the text again */
} dft__nvtx_name;

/* The name with this text, made if need be. NULL when there is no memory, or text is NULL. */
dft__nvtx_name *dft__nvtx_name_add(uint32_t scope, const char *text, size_t len);

dft__nvtx_handle dft__nvtx_name_handle(const dft__nvtx_name *name);

/* The default domain for NULL, and for what is no handle of a domain. */
dft__nvtx_name *dft__nvtx_name_domain(dft__nvtx_handle handle);

/* NULL when that is no handle of a string. */
dft__nvtx_name *dft__nvtx_name_string(dft__nvtx_handle handle);

#endif
