/* regionhulls.c - how often and when a process was in each kind of region.
 * SPDX-License-Identifier: MIT */
#include "regionhulls.h"

#include <stdlib.h>

#define RECURRING 3u /* events of a class that make it part of a loop */
#define SLOTS_FIRST 16u

static region_hull *slot_of(const region_hulls *hulls, uint32_t class_number) {
  uint32_t at = class_number * 0x9e3779b1u;
  for (;; at++) {
    region_hull *slot = &hulls->slots[at & (hulls->slot_count - 1)];
    if (!slot->class_number || slot->class_number == class_number) return slot;
  }
}

static int grow(region_hulls *hulls) {
  region_hulls larger = {.slot_count = hulls->slot_count ? hulls->slot_count * 2 : SLOTS_FIRST, .count = hulls->count};
  larger.slots = calloc(larger.slot_count, sizeof *larger.slots);
  if (!larger.slots) return 0;
  for (uint32_t i = 0; i < hulls->slot_count; i++) {
    if (hulls->slots[i].class_number) *slot_of(&larger, hulls->slots[i].class_number) = hulls->slots[i];
  }
  free(hulls->slots);
  *hulls = larger;
  return 1;
}

int region_hulls_add(region_hulls *hulls, uint32_t class_number, enum hull_kind kind, int64_t start, int64_t end) {
  region_hull *hull;
  if (2 * hulls->count >= hulls->slot_count && !grow(hulls)) return 0;
  hull = slot_of(hulls, class_number);
  if (!hull->class_number) {
    *hull = (region_hull){
      .class_number = class_number, .kind = (uint32_t)kind, .place = hulls->count, .first = start, .last = end};
    hulls->count++;
  }
  hull->count++;
  hull->total_ns += (uint64_t)(end - start);
  if (start < hull->first) hull->first = start;
  if (end > hull->last) hull->last = end;
  return 1;
}

static int is_candidate(const region_hull *hull, int is_work) {
  return hull->class_number && hull->count >= RECURRING && hull->kind != HULL_STARTUP &&
         (!is_work || hull->kind == HULL_WORK);
}

/* Most time; of equal ones, the one that starts first, then the one that ends last, then the one with fewest turns. */
static int is_before(const region_hull *one, const region_hull *two) {
  if (one->total_ns != two->total_ns) return one->total_ns > two->total_ns;
  if (one->first != two->first) return one->first < two->first;
  return one->last != two->last ? one->last > two->last : one->count < two->count;
}

static const region_hull *find_main(const region_hulls *hulls, int is_work) {
  const region_hull *found = NULL;
  for (uint32_t i = 0; i < hulls->slot_count; i++) {
    const region_hull *hull = &hulls->slots[i];
    if (is_candidate(hull, is_work) && (!found || is_before(hull, found))) found = hull;
  }
  return found;
}

static int later_first(const void *a, const void *b) {
  const region_hull *one = a, *two = b;
  if (one->last != two->last) return one->last > two->last ? -1 : 1;
  return (one->place > two->place) - (one->place < two->place);
}

/* It is a hash table no more. */
static void sort(region_hulls *hulls) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < hulls->slot_count; i++) {
    if (hulls->slots[i].class_number) hulls->slots[kept++] = hulls->slots[i];
  }
  if (kept) qsort(hulls->slots, kept, sizeof *hulls->slots, later_first);
  hulls->slot_count = kept;
}

int region_hulls_loop(region_hulls *hulls, int64_t *first, int64_t *last, int64_t *turn) {
  const int is_work = find_main(hulls, 1) != NULL;
  const region_hull *hull = find_main(hulls, is_work);
  uint64_t turns;
  if (!hull) return 0;
  turns = hull->count;
  *first = hull->first;
  *last = hull->last;
  sort(hulls);
  for (uint32_t i = 0; i < hulls->slot_count && hulls->slots[i].last > *first; i++) {
    hull = &hulls->slots[i];
    if (!is_candidate(hull, is_work)) continue;
    if (hull->last > *last) *last = hull->last;
    if (hull->first < *first) *first = hull->first;
  }
  *turn = (*last - *first) / (int64_t)(turns - 1); /* at most: collectives only end their turns */
  return 1;
}

/* Its events may overlap, on several threads or within each other. */
static uint64_t time_of(const region_hull *hull) {
  const uint64_t length = (uint64_t)(hull->last - hull->first);
  return hull->total_ns < length ? hull->total_ns : length;
}

static int is_inner(const region_hull *one, const region_hull *two) {
  if (time_of(one) != time_of(two)) return time_of(one) < time_of(two);
  if (one->first != two->first) return one->first > two->first;
  if (one->last != two->last) return one->last < two->last;
  return one->count != two->count ? one->count > two->count : one->place < two->place;
}

uint64_t region_hulls_most(const region_hulls *hulls, int64_t first, int64_t last, uint32_t *class_number) {
  const region_hull *found = NULL;
  uint64_t most = 0;
  for (int is_chosen = 0; is_chosen < 2; is_chosen++) {
    for (uint32_t i = 0; i < hulls->slot_count; i++) {
      const region_hull *hull = &hulls->slots[i];
      if (!hull->class_number || hull->kind == HULL_COMM || hull->first < first || hull->last > last) continue;
      if (!is_chosen && time_of(hull) > most) most = time_of(hull);
      if (is_chosen && most && time_of(hull) >= most - most / 20 && (!found || is_inner(hull, found))) found = hull;
    }
  }
  *class_number = found ? found->class_number : 0;
  return found ? time_of(found) : 0;
}

void region_hulls_free(region_hulls *hulls) {
  free(hulls->slots);
  *hulls = (region_hulls){0};
}
