/* clockmap.c - from ticks to the epoch: a piecewise linear map through samples that compare the two clocks.
 *
 * A sample that agrees with the map changes nothing. Otherwise the map gets two knots. The first is at the latest time that
 * must not change: the last sample, or the last time that a trace may contain. From there the map runs straight to the new
 * sample, which is the second knot. Beyond it, the rate is the one between this sample and the last sample that changed
 * the map. So errors do not add up, and a steady clock needs no further knots, however long it runs.
 * SPDX-License-Identifier: MIT */
#include "clockmap.h"

/* How far the map may be off, in addition to the error of the sample. It is several times that error, because otherwise
 * the rates would not settle. */
#define TOLERANCE_NS 100u

/* The rate of the line between two points; 0 when it would fall. */
static uint64_t rate_between(const dft__knot *from, uint64_t ticks, uint64_t ns) {
  if (ns <= from->ns || ticks <= from->ticks) return 0;
  dft__wide rate = ((dft__wide)(ns - from->ns) << DFT__RATE_LOG) / (ticks - from->ticks);
  return rate <= UINT64_MAX ? (uint64_t)rate : UINT64_MAX;
}

static uint64_t distance(uint64_t a, uint64_t b) {
  return a > b ? a - b : b - a;
}

/* Removes the knot whose loss changes the map least. If the process dies in the middle of this, the map is still valid. */
static void thin(dft__clock_map *map) {
  uint32_t count = DFT__GET(map->count);
  dft__knot *knots = map->knots;
  uint64_t least = UINT64_MAX;
  uint32_t at = 1;
  for (uint32_t i = 1; i + 1 < count; i++) {
    uint64_t rate = rate_between(&knots[i - 1], knots[i + 1].ticks, knots[i + 1].ns);
    uint64_t straight = knots[i - 1].ns +
                        (uint64_t)((dft__wide)(knots[i].ticks - knots[i - 1].ticks) * rate >> DFT__RATE_LOG);
    if (distance(straight, knots[i].ns) < least) {
      least = distance(straight, knots[i].ns);
      at = i;
    }
  }
  knots[at - 1].rate = rate_between(&knots[at - 1], knots[at + 1].ticks, knots[at + 1].ns);
  for (uint32_t i = at; i + 1 < count; i++) knots[i] = knots[i + 1];
  DFT__RELEASE(map->count, count - 1);
}

static dft__knot *append(dft__clock_map *map, uint64_t ticks, uint64_t ns, uint64_t rate) {
  if (DFT__GET(map->count) == DFT__KNOTS) thin(map);
  dft__knot *knot = &map->knots[DFT__GET(map->count)];
  *knot = (dft__knot){ticks, ns, rate};
  DFT__RELEASE(map->count, DFT__GET(map->count) + 1);
  return knot;
}

void dft__clock_map_begin(dft__clock_map *map, uint32_t source, const dft__sample *first, uint64_t rate) {
  map->source = source;
  map->settled = map->sampled = first->ticks;
  map->fit = (dft__knot){first->ticks, first->ns, 0};
  DFT__SET(map->count, 0);
  append(map, first->ticks, first->ns, rate);
}

void dft__clock_map_add(dft__clock_map *map, const dft__sample *sample) {
  dft__knot *last = &map->knots[DFT__GET(map->count) - 1];
  uint64_t kept = map->settled > map->sampled ? map->settled : map->sampled;
  uint64_t rate;
  if (sample->ticks <= kept) return;
  map->sampled = sample->ticks;
  if (last->rate && distance(dft__epoch_ns(map, sample->ticks), sample->ns) <= TOLERANCE_NS + sample->error_ns) return;
  rate = rate_between(&map->fit, sample->ticks, sample->ns);
  if (kept > last->ticks) last = append(map, kept, dft__epoch_ns(map, kept), last->rate);
  last->rate = rate_between(last, sample->ticks, sample->ns);
  append(map, sample->ticks, sample->ns > last->ns ? sample->ns : last->ns, rate);
  map->fit = (dft__knot){sample->ticks, sample->ns, 0};
}
