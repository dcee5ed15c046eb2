/* histogram.h - the distribution of values, in little memory: 64 steps for every doubling.
 *
 * A percentile is off by at most 1/128 of its value. Below 128 it is exact. A histogram with few different values lists them;
 * one with many has an array of all steps in between. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_HISTOGRAM_H
#define DFTRACER_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_STEPS 3776u /* numbers of steps are below this */

/* How many values are in a step. */
typedef struct step_count {
  uint64_t step : 12;
  uint64_t count : 52;
} step_count;

typedef struct histogram {
  uint64_t count;
  uint64_t least, most;
  union {
    step_count *listed; /* while pages is 0: steps that have values, in order */
    uint64_t *pages;    /* counts of doublings first_page to first_page + page_count - 1 */
  } values;
  uint8_t listed_count, listed_capacity;
  uint8_t first_page, page_count;
} histogram;

/* These return 0 when there is no memory. */
int histogram_add(histogram *values, uint64_t value);
int histogram_add_step(histogram *values, uint32_t step, uint64_t count); /* leaves count, least and most alone */
int histogram_merge(histogram *into, const histogram *from);

/* The least value that at least this share of all values does not exceed; 0 if there are none. All values are multiples of
 * `grain`. */
uint64_t histogram_percentile(const histogram *values, double share, uint64_t grain);
/* The first step from *step on that has values, and their number; 0: there is none. */
uint64_t histogram_next_step(const histogram *values, uint32_t *step);
void histogram_free(histogram *values);

#endif
