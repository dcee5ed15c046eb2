/* recordpile.c - records that come nearly in order, and are read in order later.
 * SPDX-License-Identifier: MIT */
#include "recordpile.h"

#include <stdlib.h>
#include <string.h>

#include "naturalsort.h"
#include "spill.h"

#define CAPACITY_FIRST 16u
#define CAPACITY_LEAST 64u /* a run of fewer records is not worth it */
#define SHIFT_MOST 64u     /* how far a record may be from its place to be put there at once */

static void tidy(record_pile *pile) {
  if (pile->is_unsorted && !natural_sort(pile->records, pile->count, pile->record_bytes, pile->compare))
    qsort(pile->records, pile->count, pile->record_bytes, pile->compare); /* slower, but without memory */
  pile->is_unsorted = 0;
}

int record_pile_make_room(record_pile *pile) {
  uint32_t capacity = pile->capacity ? pile->capacity * 2 : CAPACITY_FIRST;
  size_t more_bytes = (capacity - pile->capacity) * pile->record_bytes;
  char *records;
  if (capacity > CAPACITY_LEAST && !spill_is_within(more_bytes, 1)) {
    tidy(pile);
    if (!spilled_runs_add(&pile->runs, pile->records, pile->count, pile->record_bytes)) return 0;
    pile->count = 0;
    return 1;
  }
  records = realloc(pile->records, capacity * pile->record_bytes);
  if (!records) return 0;
  spill_hold(more_bytes);
  pile->records = records;
  pile->capacity = capacity;
  return 1;
}

/* Where a record belongs that is less than the last one. If that is too far away, it stays behind, and the pile is sorted later. */
static char *place_of(record_pile *pile, const void *record) {
  const size_t bytes = pile->record_bytes;
  char *at = pile->records + (size_t)pile->count * bytes;
  const char *limit = pile->count > SHIFT_MOST ? at - SHIFT_MOST * bytes : pile->records;
  while (at > limit && pile->compare(at - bytes, record) > 0) at -= bytes;
  if (at > limit || at == pile->records || pile->compare(at - bytes, record) <= 0) return at;
  pile->is_unsorted = 1;
  return pile->records + (size_t)pile->count * bytes;
}

int record_pile_add(record_pile *pile, const void *record) {
  const size_t bytes = pile->record_bytes;
  char *end, *at;
  if (pile->count == pile->capacity && !record_pile_make_room(pile)) return 0;
  end = at = pile->records + (size_t)pile->count * bytes;
  if (pile->count && !pile->is_unsorted && pile->compare(end - bytes, record) > 0) {
    at = place_of(pile, record);
    memmove(at + bytes, at, (size_t)(end - at));
  }
  memcpy(at, record, bytes);
  pile->count++;
  return 1;
}

int record_pile_take(record_pile *pile, void *records, uint32_t count, uint32_t capacity) {
  const size_t bytes = pile->record_bytes;
  int is_good = 1;
  if (!pile->capacity && record_pile_is_empty(pile) && spill_is_within(capacity * bytes, 1)) {
    spill_hold(capacity * bytes);
    pile->records = records;
    pile->count = count;
    pile->capacity = capacity;
    return 1;
  }
  for (uint32_t i = 0; is_good && i < count; i++) is_good = record_pile_add(pile, (char *)records + i * bytes);
  free(records);
  return is_good;
}

void record_pile_join(record_pile *pile, run_merge *merge) {
  tidy(pile);
  run_merge_add_spilled(merge, &pile->runs);
  run_merge_add(merge, pile->records, pile->count);
}

void record_pile_read(record_pile *pile, run_merge *merge) {
  run_merge_init(merge, pile->record_bytes, pile->compare);
  record_pile_join(pile, merge);
}

int record_pile_move(record_pile *into, record_pile *from) {
  int is_good = 1;
  if (record_pile_is_empty(into)) {
    record_pile_free(into);
    *into = *from;
    *from = (record_pile){.record_bytes = into->record_bytes, .compare = into->compare};
    return 1;
  }
  for (uint32_t i = 0; i < from->runs.count && is_good; i++)
    is_good = spilled_runs_take(&into->runs, from->runs.list[i]);
  for (uint32_t i = 0; i < from->count && is_good; i++)
    is_good = record_pile_add(into, from->records + i * from->record_bytes);
  record_pile_free(from);
  return is_good;
}

void record_pile_free(record_pile *pile) {
  spill_release(pile->capacity * pile->record_bytes);
  free(pile->records);
  spilled_runs_free(&pile->runs);
  pile->records = NULL;
  pile->count = pile->capacity = 0;
  pile->is_unsorted = 0;
}
