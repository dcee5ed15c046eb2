/* clockmap.h - from ticks to the epoch: the map in a spool's header, without any clock.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_CLOCKMAP_H
#define DFT_CLOCKMAP_H

#include "base/atomic.h"
#include "record.h"

/* What a comparison found: the counter and the epoch at one moment, to within `error_ns`. */
typedef struct dft__sample {
  uint64_t ticks;
  uint64_t ns;
  uint64_t error_ns;
} dft__sample;

/* A map that begins at this sample with this rate; 0: not known yet. */
void dft__clock_map_begin(dft__clock_map *map, uint32_t source, const dft__sample *first, uint64_t rate);

/* Bends the map after its settled part so that it meets the sample, unless it already does. */
void dft__clock_map_add(dft__clock_map *map, const dft__sample *sample);

#endif
