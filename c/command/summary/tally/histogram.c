/* histogram.c - the distribution of values, in little memory.
 * SPDX-License-Identifier: MIT */
#include "histogram.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 64u /* in one page, which is a doubling; page 0 holds 0 to 63 */

static _Atomic uint64_t page_count;

static uint32_t page_of(uint64_t value) {
  return value < STEPS ? 0 : (uint32_t)(63 - __builtin_clzll(value)) - 5;
}

static uint32_t step_of(uint64_t value, uint32_t page) {
  return page == 0 ? (uint32_t)value : (uint32_t)(value >> (page - 1)) - STEPS;
}

/* The middle of a step. */
static uint64_t value_of(uint32_t page, uint32_t step) {
  uint64_t least;
  if (page == 0) return step;
  least = (uint64_t)(STEPS + step) << (page - 1);
  return least + (((uint64_t)1 << (page - 1)) - 1) / 2;
}

/* Makes room for the pages `low` to `high`. 0: no memory. */
static int cover(histogram *values, uint32_t low, uint32_t high) {
  uint32_t first = values->pages && values->first_page < low ? values->first_page : low;
  uint32_t last = values->pages && values->first_page + values->pages - 1u > high
                    ? values->first_page + values->pages - 1u
                    : high;
  uint32_t pages = last - first + 1;
  uint64_t *steps;
  if (values->pages && values->first_page == first && values->pages == pages) return 1;
  steps = calloc((size_t)pages * STEPS, sizeof *steps);
  if (!steps) return 0;
  if (values->pages) {
    memcpy(steps + (size_t)(values->first_page - first) * STEPS, values->steps,
           (size_t)values->pages * STEPS * sizeof *steps);
  }
  free(values->steps);
  atomic_fetch_add(&page_count, pages - values->pages);
  values->steps = steps;
  values->first_page = (uint8_t)first;
  values->pages = (uint8_t)pages;
  return 1;
}

int histogram_add(histogram *values, uint64_t value) {
  uint32_t page = page_of(value);
  if (page - values->first_page >= values->pages && !cover(values, page, page)) return 0;
  values->steps[(page - values->first_page) * STEPS + step_of(value, page)]++;
  if (!values->count || value < values->least) values->least = value;
  if (value > values->most) values->most = value;
  values->count++;
  return 1;
}

int histogram_merge(histogram *into, const histogram *from) {
  if (!from->count) return 1;
  if (!cover(into, from->first_page, from->first_page + from->pages - 1u)) return 0;
  for (uint32_t i = 0; i < from->pages * STEPS; i++) {
    into->steps[(from->first_page - into->first_page) * STEPS + i] += from->steps[i];
  }
  if (!into->count || from->least < into->least) into->least = from->least;
  if (from->most > into->most) into->most = from->most;
  into->count += from->count;
  return 1;
}

uint64_t histogram_percentile(const histogram *values, double share, uint64_t grain) {
  uint64_t rank = (uint64_t)ceil(share * (double)values->count);
  uint64_t seen = 0;
  if (rank < 1) rank = 1;
  for (uint32_t i = 0; i < values->pages * STEPS; i++) {
    seen += values->steps[i];
    if (seen >= rank) {
      uint64_t value = value_of(values->first_page + i / STEPS, i % STEPS);
      if (grain > 1) value = (value + grain / 2) / grain * grain;
      return value < values->least ? values->least : value > values->most ? values->most : value;
    }
  }
  return values->most;
}

void histogram_free(histogram *values) {
  free(values->steps);
  atomic_fetch_sub(&page_count, values->pages);
  memset(values, 0, sizeof *values);
}

uint64_t histogram_bytes(void) {
  return atomic_load(&page_count) * STEPS * sizeof(uint64_t);
}
