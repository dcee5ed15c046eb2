/* iograins.h - when a process was in I/O calls, in little room. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_IOGRAINS_H
#define DFTRACER_IOGRAINS_H

#include "spanset.h"
#include "timesplit.h"

/* Makes grains of the union of the sets: at most GRAINS_EXACT. Spans whose distance is below a power of two are one grain, the
 * smallest power that is enough; 1 if all have room: then each span is a grain. 0: no memory, or no room for the spill. */
int io_grains_make(record_pile *grains, spanset *const *sets, uint32_t count);
/* Adds a grain, in the order of starts. 0: as before. */
int io_grains_add(record_pile *grains, const io_grain *grain);
uint64_t io_grains_busy(record_pile *grains); /* added up */

#endif
