/* openregion.h - regions that are open when a trace ends, as events with open:1.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_OPENREGION_H
#define DFT_OPENREGION_H

#include "batch.h"

/* The next one; 0 when there is no other. */
int dft__open_region_next(dft_batch *batch, dft_event *event);
/* The latest time that is known of a dead process. */
uint64_t dft__open_region_last_sign(const dft_batch *batch);
/* Whether there is one at all. */
int dft__open_region_any(const dft__spool *spool);

#endif
