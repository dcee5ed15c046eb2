/* histogram.c - the distribution of values, in little memory.
 * SPDX-License-Identifier: MIT */
#include "histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_STEPS 64u  /* in one page, which is a doubling; page 0 holds 0 to 63 */
#define LISTED_FIRST 4u /* room for listed steps */
#define LISTED_MOST 32u /* with more, there are pages */

static uint32_t step_of(uint64_t value) {
  uint32_t page;
  if (value < PAGE_STEPS) return (uint32_t)value;
  page = (uint32_t)(63 - __builtin_clzll(value)) - 5;
  return page * PAGE_STEPS + (uint32_t)(value >> (page - 1)) - PAGE_STEPS;
}

/* The middle of a step. */
static uint64_t value_of(uint32_t number) {
  uint32_t page = number / PAGE_STEPS, step = number % PAGE_STEPS;
  uint64_t least;
  if (page == 0) return step;
  least = (uint64_t)(PAGE_STEPS + step) << (page - 1);
  return least + (((uint64_t)1 << (page - 1)) - 1) / 2;
}

/* ---- Pages ---------------------------------------------------------------------------------------------------------- */

/* Makes room for the pages `low` to `high`. */
static int cover(histogram *values, uint32_t low, uint32_t high) {
  uint32_t first = low, last = high, pages;
  uint64_t *steps;
  if (values->page_count) {
    if (values->first_page < first) first = values->first_page;
    if (values->first_page + values->page_count - 1u > last) last = values->first_page + values->page_count - 1u;
  }
  pages = last - first + 1;
  if (values->page_count && values->first_page == first && values->page_count == pages) return 1;
  steps = calloc((size_t)pages * PAGE_STEPS, sizeof *steps);
  if (!steps) return 0;
  if (values->page_count) {
    memcpy(steps + (size_t)(values->first_page - first) * PAGE_STEPS, values->values.pages,
           (size_t)values->page_count * PAGE_STEPS * sizeof *steps);
    free(values->values.pages);
  }
  values->values.pages = steps;
  values->first_page = (uint8_t)first;
  values->page_count = (uint8_t)pages;
  return 1;
}

static int add_to_page(histogram *values, uint32_t step, uint64_t count) {
  uint32_t page = step / PAGE_STEPS;
  if (page - values->first_page >= values->page_count && !cover(values, page, page)) return 0;
  values->values.pages[step - values->first_page * PAGE_STEPS] += count;
  return 1;
}

/* Turns the list into pages. */
static int unlist(histogram *values) {
  step_count *listed = values->values.listed;
  uint32_t count = values->listed_count;
  if (!cover(values, listed[0].step / PAGE_STEPS, listed[count - 1].step / PAGE_STEPS)) return 0;
  for (uint32_t i = 0; i < count; i++) add_to_page(values, listed[i].step, listed[i].count);
  values->listed_count = values->listed_capacity = 0;
  free(listed);
  return 1;
}

/* ---- List ----------------------------------------------------------------------------------------------------------- */

/* The number of listed steps that are not above this one. */
static inline uint32_t find_listed(const histogram *values, uint32_t step) {
  uint32_t low = 0, high = values->listed_count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (values->values.listed[middle].step <= step) low = middle + 1;
    else high = middle;
  }
  return low;
}

int histogram_add_step(histogram *values, uint32_t step, uint64_t count) {
  step_count *listed = values->values.listed;
  uint32_t at;
  if (values->page_count) return add_to_page(values, step, count);
  at = find_listed(values, step);
  if (at && listed[at - 1].step == step) {
    listed[at - 1].count += count;
    return 1;
  }
  if (values->listed_count == LISTED_MOST) return unlist(values) && add_to_page(values, step, count);
  if (values->listed_count == values->listed_capacity) {
    uint32_t capacity = values->listed_capacity ? values->listed_capacity * 2u : LISTED_FIRST;
    listed = realloc(listed, capacity * sizeof *listed);
    if (!listed) return 0;
    values->values.listed = listed;
    values->listed_capacity = (uint8_t)capacity;
  }
  memmove(listed + at + 1, listed + at, (values->listed_count - at) * sizeof *listed);
  listed[at].step = step & 0xfff;
  listed[at].count = count & (UINT64_MAX >> 12);
  values->listed_count++;
  return 1;
}

/* ---- Both ----------------------------------------------------------------------------------------------------------- */

int histogram_add(histogram *values, uint64_t value) {
  if (!histogram_add_step(values, step_of(value), 1)) return 0;
  if (!values->count || value < values->least) values->least = value;
  if (value > values->most) values->most = value;
  values->count++;
  return 1;
}

uint64_t histogram_next_step(const histogram *values, uint32_t *step) {
  const uint32_t first = values->first_page * PAGE_STEPS, end = first + values->page_count * PAGE_STEPS;
  for (uint32_t i = 0; i < values->listed_count; i++) {
    if (values->values.listed[i].step < *step) continue;
    *step = values->values.listed[i].step;
    return values->values.listed[i].count;
  }
  for (uint32_t i = *step > first ? *step : first; i < end; i++) {
    if (!values->values.pages[i - first]) continue;
    *step = i;
    return values->values.pages[i - first];
  }
  return 0;
}

int histogram_merge(histogram *into, const histogram *from) {
  uint64_t count;
  if (!from->count) return 1;
  for (uint32_t step = 0; (count = histogram_next_step(from, &step)) != 0; step++) {
    if (!histogram_add_step(into, step, count)) return 0;
  }
  if (!into->count || from->least < into->least) into->least = from->least;
  if (from->most > into->most) into->most = from->most;
  into->count += from->count;
  return 1;
}

uint64_t histogram_percentile(const histogram *values, double share, uint64_t grain) {
  uint64_t rank = (uint64_t)ceil(share * (double)values->count);
  uint64_t seen = 0, count;
  if (rank < 1) rank = 1;
  for (uint32_t step = 0; (count = histogram_next_step(values, &step)) != 0; step++) {
    seen += count;
    if (seen >= rank) {
      uint64_t value = value_of(step);
      if (grain > 1) value = (value + grain / 2) / grain * grain;
      return value < values->least ? values->least : value > values->most ? values->most : value;
    }
  }
  return values->most;
}

void histogram_free(histogram *values) {
  if (values->page_count) free(values->values.pages);
  else free(values->values.listed);
  memset(values, 0, sizeof *values);
}
