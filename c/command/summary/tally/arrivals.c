/* arrivals.c - when a process began and ended each call of communication.
 * SPDX-License-Identifier: MIT */
#include "arrivals.h"

#include <stdlib.h>

static int by_time(const void *a, const void *b) {
  const time_span *one = a, *two = b;
  if (one->start != two->start) return one->start < two->start ? -1 : 1;
  return (one->end > two->end) - (one->end < two->end);
}

/* There are few names. */
arrival_list *arrivals_list(arrivals *all, uint32_t name) {
  for (uint32_t i = 0; i < all->count; i++) {
    if (all->lists[i].name == name) return &all->lists[i];
  }
  if (all->count == all->capacity) {
    uint32_t capacity = all->capacity ? all->capacity * 2 : 4;
    arrival_list *lists = realloc(all->lists, capacity * sizeof *lists);
    if (!lists) return NULL;
    all->lists = lists;
    all->capacity = capacity;
  }
  all->lists[all->count] = (arrival_list){.name = name,
                                          .calls = {.record_bytes = sizeof(time_span), .compare = by_time}};
  return &all->lists[all->count++];
}

int arrival_list_add(arrival_list *list, int64_t start, int64_t end) {
  time_span call = {start, end};
  list->count++;
  list->time_ns += (uint64_t)(end - start);
  return record_pile_add(&list->calls, &call);
}

static int by_name(const void *a, const void *b) {
  const arrival_list *one = a, *two = b;
  return (one->name > two->name) - (one->name < two->name);
}

void arrivals_sort(arrivals *all) {
  if (all->count) qsort(all->lists, all->count, sizeof *all->lists, by_name);
}

void arrivals_free(arrivals *all) {
  for (uint32_t i = 0; i < all->count; i++) record_pile_free(&all->lists[i].calls);
  free(all->lists);
  *all = (arrivals){0};
}
