/* histogram.h - how values are distributed, in little memory: 64 steps for every doubling.
 *
 * A percentile is off by at most 1/128 of its value; below 128 it is exact. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_HISTOGRAM_H
#define DFTRACER_HISTOGRAM_H

#include <stdint.h>

typedef struct histogram {
  uint64_t count;
  uint64_t least, most;
  uint64_t *steps; /* of doublings first_page to first_page + pages - 1 */
  uint8_t first_page;
  uint8_t pages;
} histogram;

int histogram_add(histogram *of, uint64_t value); /* 0: no memory */
int histogram_merge(histogram *into, const histogram *from);
/* The least value that at least this share of all values do not exceed; 0 of nothing. `grain`: values are multiples of it. */
uint64_t histogram_percentile(const histogram *of, double share, uint64_t grain);
void histogram_free(histogram *of);

/* The memory of all of them. */
uint64_t histogram_bytes(void);

#endif
