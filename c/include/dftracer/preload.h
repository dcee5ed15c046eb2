/* preload.h - between libdftracer_core and the libdftracer_preload that lies beside it. Not for programs.
 *
 * The wrappers of I/O calls are in the core, so that a program has one of everything however its calls are bound. The preload
 * library exports the names of the calls; each is a jump through this table.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_PRELOAD_H
#define DFTRACER_PRELOAD_H

#include <dftracer/dft.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DFT_PRELOAD_WRAPPERS 512

/* In the order of c/intercept/calls.inc, and vfork behind them. While nothing is recorded, what the names stand for without us
 * takes the place of the wrappers. */
typedef struct dft_preload_wrappers {
  void (*at[DFT_PRELOAD_WRAPPERS])(void);
} dft_preload_wrappers;
DFT_API extern dft_preload_wrappers dft_preload_table;

/* Defined by the preload library alone: what a name stands for in the libraries behind it; NULL when there is nothing. */
__attribute__((weak)) void *dft_preload_next(const char *name);

#ifdef __cplusplus
}
#endif
#endif
