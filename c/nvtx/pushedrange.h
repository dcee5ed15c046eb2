/* pushedrange.h - NVTX's push and pop: ranges of a thread that nest within their domain.
 *
 * Each domain has its own stack on each thread. The ranges of two domains may overlap without nesting; the trace then shows
 * one of them on a lane. A pop ends a range of its own domain only, never a region that something else began. Handles of
 * regions are never used again, so in a forked child the pops of earlier ranges find nothing.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PUSHEDRANGE_H
#define DFT_PUSHEDRANGE_H

#include "nvtxevent.h"

/* Both return the level of the range within its domain, from 0; a pop without a push returns less than 0. */
int dft__pushed_range_push(const dft__nvtx_event *event);
int dft__pushed_range_pop(dft__nvtx_name *domain);

/* So that threads give back their memory when they end. Call it once. */
void dft__pushed_range_prepare(void);

#endif
