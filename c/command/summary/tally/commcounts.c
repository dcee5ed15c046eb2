/* commcounts.c - how a process communicated.
 * SPDX-License-Identifier: MIT */
#include "commcounts.h"

#include <stdlib.h>

#define FEW 32u /* names that are looked through; programs that give each step a name have more */

comm_call *comm_counts_call(comm_counts *counts, uint32_t name, uint32_t kind) {
  for (uint32_t i = 0; i < counts->count && i < FEW; i++) {
    if (counts->calls[i].name == name && counts->calls[i].kind == kind) return &counts->calls[i];
  }
  if (counts->count >= FEW) {
    int is_new;
    uint32_t number;
    counts->numbers.limit = UINT32_MAX - 1;
    number = numbering_of(&counts->numbers, name, kind, &is_new);
    if (!number) return NULL;
    if (!is_new) return &counts->calls[FEW + number - 1];
  }
  if (counts->count == counts->capacity) {
    uint32_t capacity = counts->capacity ? counts->capacity * 2 : 4;
    comm_call *calls = realloc(counts->calls, capacity * sizeof *calls);
    if (!calls) return NULL;
    counts->calls = calls;
    counts->capacity = capacity;
  }
  counts->calls[counts->count] = (comm_call){.name = name, .kind = kind};
  return &counts->calls[counts->count++];
}

int comm_counts_move(comm_counts *into, comm_counts *from) {
  int is_good = arrivals_move(&into->meetings, &from->meetings) && messages_move(&into->mail, &from->mail) &&
                spanset_move(&into->busy, &from->busy);
  for (uint32_t i = 0; is_good && i < from->count; i++) {
    const comm_call *own = &from->calls[i];
    comm_call *sum = comm_counts_call(into, own->name, own->kind);
    is_good = sum && histogram_merge(&sum->sizes, &own->sizes);
    if (!is_good) break;
    sum->is_begun |= own->is_begun;
    sum->calls += own->calls;
    sum->time_ns += own->time_ns;
    sum->bytes += own->bytes;
    sum->collective += own->collective;
  }
  comm_counts_free(from);
  return is_good;
}

int comm_counts_settle(comm_counts *counts) {
  return messages_join(&counts->mail, &counts->meetings) && spanset_settle(&counts->busy);
}

void comm_counts_rename(comm_counts *counts, const uint32_t *numbers) {
  numbering_free(&counts->numbers);
  for (uint32_t i = 0; i < counts->count; i++) counts->calls[i].name = numbers[counts->calls[i].name];
  for (uint32_t i = 0; i < counts->meetings.count; i++) {
    arrival_key *key = &counts->meetings.lists[i].key;
    key->name = numbers[key->name];
  }
}

static int by_name(const void *a, const void *b) {
  const comm_call *one = a, *two = b;
  if (one->name != two->name) return one->name < two->name ? -1 : 1;
  return (one->kind > two->kind) - (one->kind < two->kind);
}

int comm_counts_sort(comm_counts *counts) {
  numbering_free(&counts->numbers);
  if (counts->count) qsort(counts->calls, counts->count, sizeof *counts->calls, by_name);
  arrivals_sort(&counts->meetings);
  return messages_sort(&counts->mail);
}

void comm_counts_free(comm_counts *counts) {
  for (uint32_t i = 0; i < counts->count; i++) histogram_free(&counts->calls[i].sizes);
  free(counts->calls);
  numbering_free(&counts->numbers);
  arrivals_free(&counts->meetings);
  messages_free(&counts->mail);
  spanset_free(&counts->busy);
  *counts = (comm_counts){0};
}
