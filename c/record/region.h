/* region.h - ends of regions that are not the caller's own: at a time that has passed, and of those left open.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_REGION_H
#define DFT_REGION_H

#include "thread.h"

/* dft_region_end_at with the time of its end, which has passed; nothing was recorded on this thread since. */
void dft__region_end_ticks(dft_region region, uint64_t now);

/* The thread ends: records the regions that it left open, and takes them off its stack. */
void dft__region_record_open(const dft__own *own);

#endif
