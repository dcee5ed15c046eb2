/* preload.h - the interface between libdftracer_core and the libdftracer_preload beside it. Not for programs.
 *
 * The core has the wrappers of I/O calls, so a process has one table of descriptors, one spool and one trace however
 * its calls are bound. The preload library exports the names of the calls. Each is a jump through this table.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_PRELOAD_H
#define DFTRACER_PRELOAD_H

#include <dftracer/dft.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DFT_PRELOAD_WRAPPERS 512

/* In the order of c/intercept/calls.inc, with vfork, dlopen and dlsym at the end. While nothing is recorded, the table holds the
 * real functions instead of the wrappers. */
typedef struct dft_preload_wrappers {
  void (*at[DFT_PRELOAD_WRAPPERS])(void);
} dft_preload_wrappers;
DFT_API extern dft_preload_wrappers dft_preload_table;

/* Only the preload library defines this: looks a name up in the libraries that come after it. NULL: not found. */
__attribute__((weak)) void *dft_preload_next(const char *name);

#ifdef __cplusplus
}
#endif
#endif
