/* startedrange.h - NVTX's start and end: ranges of the process, which may overlap, and end on another thread.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_STARTEDRANGE_H
#define DFT_STARTEDRANGE_H

#include "nvtxevent.h"

/* Returns the range's id; 0 while nothing is recorded, and when too many are open. The trace's end counts the latter. */
uint64_t dft__started_range_start(const dft__nvtx_event *event);
/* Records it. Ids that are not open are ignored. */
void dft__started_range_end(uint64_t id);

#endif
