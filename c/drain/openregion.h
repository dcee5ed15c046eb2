/* openregion.h - regions that are open when a trace ends, as events with open:1.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_OPENREGION_H
#define DFT_OPENREGION_H

#include "batch.h"

/* The next one; 0 when there is no other. */
int dft__open_region_next(dft_batch *batch, dft_event *event);
/* When the process ended, or the latest time that is known of it. */
uint64_t dft__open_region_last_sign(const dft_batch *batch);
/* How many there are, those included that ended threads had left open, and the sites of the first ones. A dead process had no
 * chance to end its own. */
uint64_t dft__open_region_count(const dft_batch *batch, _Atomic uint32_t sites[DFT__SITES_NAMED]);
/* Whether there is one at all. */
int dft__open_region_any(const dft__spool *spool);

#endif
