/* arrivals.c - when a process came to each collective.
 * SPDX-License-Identifier: MIT */
#include "arrivals.h"

#include <stdlib.h>

static int by_time(const void *a, const void *b) {
  const arrival *one = a, *two = b;
  if (one->start != two->start) return one->start < two->start ? -1 : 1;
  if (one->wait_end != two->wait_end) return one->wait_end < two->wait_end ? -1 : 1;
  if (one->wait_start != two->wait_start) return one->wait_start < two->wait_start ? -1 : 1;
  if (one->root != two->root) return one->root < two->root ? -1 : 1;
  return (one->has_data > two->has_data) - (one->has_data < two->has_data);
}

arrival_list *arrivals_add_list(arrivals *all, arrival_key key) {
  if (all->count == all->capacity) {
    uint32_t capacity = all->capacity ? all->capacity * 2 : 4;
    arrival_list *lists = realloc(all->lists, capacity * sizeof *lists);
    if (!lists) return NULL;
    all->lists = lists;
    all->capacity = capacity;
  }
  all->lists[all->count] = (arrival_list){.key = key, .calls = {.record_bytes = sizeof(arrival), .compare = by_time}};
  return &all->lists[all->count++];
}

static int is_same(const arrival_key *one, const arrival_key *two) {
  return one->name == two->name && one->comm == two->comm && one->comm_size == two->comm_size &&
         one->is_mpi == two->is_mpi;
}

arrival_list *arrivals_list(arrivals *all, arrival_key key) {
  uint32_t number;
  int is_new;
  if (all->last < all->count && is_same(&all->lists[all->last].key, &key)) return &all->lists[all->last];
  all->numbers.limit = UINT32_MAX - 1;
  number = numbering_of(&all->numbers, (uint64_t)key.name << 32 | key.comm, (uint64_t)key.comm_size << 1 | key.is_mpi,
                        &is_new);
  if (!number) return NULL;
  all->last = number - 1;
  return is_new ? arrivals_add_list(all, key) : &all->lists[number - 1];
}

int arrival_list_add(arrival_list *list, const arrival *call) {
  list->count++;
  return record_pile_add(&list->calls, call);
}

int arrivals_move(arrivals *into, arrivals *from) {
  int is_good = 1;
  for (uint32_t i = 0; i < from->count && is_good; i++) {
    arrival_list *own = &from->lists[i], *sum = arrivals_list(into, own->key);
    is_good = sum && record_pile_move(&sum->calls, &own->calls);
    if (!is_good) break;
    sum->count += own->count;
  }
  arrivals_free(from);
  return is_good;
}

static int by_key(const void *a, const void *b) {
  const arrival_key *one = &((const arrival_list *)a)->key, *two = &((const arrival_list *)b)->key;
  if (one->name != two->name) return one->name < two->name ? -1 : 1;
  if (one->is_mpi != two->is_mpi) return one->is_mpi < two->is_mpi ? -1 : 1;
  if (one->comm != two->comm) return one->comm < two->comm ? -1 : 1;
  return (one->comm_size > two->comm_size) - (one->comm_size < two->comm_size);
}

void arrivals_sort(arrivals *all) {
  numbering_free(&all->numbers);
  if (all->count) qsort(all->lists, all->count, sizeof *all->lists, by_key);
}

void arrivals_free(arrivals *all) {
  for (uint32_t i = 0; i < all->count; i++) record_pile_free(&all->lists[i].calls);
  free(all->lists);
  numbering_free(&all->numbers);
  *all = (arrivals){0};
}
