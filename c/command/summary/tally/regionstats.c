/* regionstats.c - how much time a process spent in each region.
 * SPDX-License-Identifier: MIT */
#include "regionstats.h"

#include <stdlib.h>

#define REGIONS_FIRST 8u

region_total *region_stats_append(region_stats *regions, uint32_t name, uint32_t cat) {
  if (regions->count == regions->capacity) {
    uint32_t capacity = regions->capacity ? regions->capacity * 2 : REGIONS_FIRST;
    region_total *list = realloc(regions->list, capacity * sizeof *list);
    if (!list) return NULL;
    regions->list = list;
    regions->capacity = capacity;
  }
  regions->list[regions->count] = (region_total){.name = name, .cat = cat};
  return &regions->list[regions->count++];
}

/* The slot of a class, or the free one where it belongs. Classes have small numbers, so most are in the first slot. */
static uint32_t *slot_of(const region_stats *regions, uint32_t class_number) {
  uint32_t at = class_number & (regions->slot_count - 1);
  while (regions->slots[at] && regions->list[regions->slots[at] - 1].name != class_number)
    at = (at + 1) & (regions->slot_count - 1);
  return &regions->slots[at];
}

static int enlarge(region_stats *regions) {
  uint32_t slot_count = regions->slot_count ? regions->slot_count * 2 : 4 * REGIONS_FIRST;
  uint32_t *slots = calloc(slot_count, sizeof *slots);
  if (!slots) return 0;
  free(regions->slots);
  regions->slots = slots;
  regions->slot_count = slot_count;
  for (uint32_t i = 0; i < regions->count; i++) *slot_of(regions, regions->list[i].name) = i + 1;
  return 1;
}

int region_stats_add(region_stats *regions, uint32_t class_number, uint64_t time_ns, uint64_t self_ns) {
  uint32_t *slot;
  if (regions->count * 2 >= regions->slot_count && !enlarge(regions)) return 0;
  slot = slot_of(regions, class_number);
  if (!*slot) {
    if (!region_stats_append(regions, class_number, 0)) return 0;
    *slot = regions->count;
  }
  region_total_add(&regions->list[*slot - 1], time_ns, self_ns);
  return 1;
}

void region_stats_settle(region_stats *regions) {
  free(regions->slots);
  regions->slots = NULL;
  regions->slot_count = 0;
}

static int by_name(const void *a, const void *b) {
  const region_total *one = a, *two = b;
  if (one->name != two->name) return one->name < two->name ? -1 : 1;
  return (one->cat > two->cat) - (one->cat < two->cat);
}

void region_stats_sort(region_stats *regions) {
  if (regions->count) qsort(regions->list, regions->count, sizeof *regions->list, by_name);
}

void region_stats_free(region_stats *regions) {
  free(regions->list);
  free(regions->slots);
  *regions = (region_stats){0};
}
