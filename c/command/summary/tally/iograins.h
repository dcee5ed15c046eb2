/* iograins.h - when a process was in I/O calls, in little room. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_IOGRAINS_H
#define DFTRACER_IOGRAINS_H

#include "spanset.h"
#include "timesplit.h"

/* Grains that are being made. Zero: none. */
typedef struct grain_maker {
  io_grain *list; /* the later ones first */
  uint32_t count, capacity;
  uint64_t reach; /* what is closer becomes one; a power of two */
} grain_maker;

/* Times come from the last to the first. There are at most GRAINS_EXACT grains: times whose distance is below a power of two are
 * one, the smallest power that is enough; if all have room, each time is a grain. 0: no memory. */
int grain_maker_add(grain_maker *maker, int64_t start, int64_t end);
/* Moves them into the pile, in the order of time. 0: no memory, or no room for the spill. */
int grain_maker_end(grain_maker *maker, record_pile *grains);
/* Adds a grain, in the order of starts. 0: as before. */
int io_grains_add(record_pile *grains, const io_grain *grain);
/* Their times, of all these piles. Close the stream even after a failure. 0: as before. */
int io_grains_stream(span_stream *stream, record_pile *const *grains, uint32_t count);
uint64_t io_grains_busy(record_pile *grains); /* added up */

#endif
