/* histogram.h - the distribution of values, in little memory: 64 steps for every doubling.
 *
 * A percentile is off by at most 1/128 of its value. Below 128 it is exact. SPDX-License-Identifier: MIT */
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

int histogram_add(histogram *values, uint64_t value); /* 0: no memory */
int histogram_merge(histogram *into, const histogram *from);
/* The least value that at least this share of all values does not exceed; 0 if there are none. All values are multiples of
 * `grain`. */
uint64_t histogram_percentile(const histogram *values, double share, uint64_t grain);
void histogram_free(histogram *values);

/* The memory that all histograms use together. */
uint64_t histogram_bytes(void);

#endif
