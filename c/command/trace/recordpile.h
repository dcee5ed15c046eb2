/* recordpile.h - records that come nearly in order, and are read in order later. What does not fit in memory is spilled.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_RECORDPILE_H
#define DFTRACER_RECORDPILE_H

#include "runmerge.h"

/* record_bytes and compare are set before the first use. Equal records must be interchangeable. */
typedef struct record_pile {
  size_t record_bytes;
  record_compare *compare;
  char *records; /* the last ones */
  uint32_t count, capacity;
  int is_unsorted;
  spilled_runs runs; /* the others, as sorted runs */
} record_pile;

static inline int record_pile_is_empty(const record_pile *pile) {
  return !pile->count && !pile->runs.count;
}
int record_pile_add(record_pile *pile, const void *record); /* 0: no memory, or no room for the spill */
/* Room for one more record, none of which is less than the others. NULL: as before. record_bytes: the pile's. */
int record_pile_make_room(record_pile *pile);
static inline void *record_pile_append(record_pile *pile, size_t record_bytes) {
  if (pile->count == pile->capacity && !record_pile_make_room(pile)) return NULL;
  return pile->records + record_bytes * pile->count++;
}
/* The same for a list on the heap, whose records are in order. The pile owns it then. */
int record_pile_take(record_pile *pile, void *records, uint32_t count, uint32_t capacity);
/* Begins to read. Nothing may be added until the merge is freed. */
void record_pile_read(record_pile *pile, run_merge *merge);
/* Reads this pile together with others of such records. */
void record_pile_join(record_pile *pile, run_merge *merge);
/* Adds all records of `from`, which is empty then. 0: as before. */
int record_pile_move(record_pile *into, record_pile *from);
void record_pile_free(record_pile *pile); /* it can be used again */

#endif
