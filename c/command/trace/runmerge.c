/* runmerge.c - merges sorted runs of records.
 * SPDX-License-Identifier: MIT */
#include "runmerge.h"

#include <stdlib.h>
#include <string.h>

#include "spill.h"

#define BUFFER_BYTES 4096u /* of a spilled run that are in memory while it is read */

struct run_cursor {
  const char *at, *end; /* in memory; `at` is the record that comes next */
  char *buffer;         /* NULL: of a run in memory, or not read yet */
  int64_t place;        /* of the rest */
  uint64_t left;
  uint32_t number; /* the order in which runs were added */
};

int spilled_runs_take(spilled_runs *runs, spilled_run run) {
  if (runs->count == runs->capacity) {
    uint32_t capacity = runs->capacity ? runs->capacity * 2 : 4;
    spilled_run *list = realloc(runs->list, capacity * sizeof *list);
    if (!list) return 0;
    runs->list = list;
    runs->capacity = capacity;
  }
  runs->list[runs->count++] = run;
  return 1;
}

int spilled_runs_add(spilled_runs *runs, const void *records, uint64_t count, size_t record_bytes) {
  spilled_run run = {SPILL_NOWHERE, count};
  return spill_write(&run.place, records, count * record_bytes) && spilled_runs_take(runs, run);
}

void spilled_runs_free(spilled_runs *runs) {
  free(runs->list);
  *runs = (spilled_runs){0};
}

void run_merge_init(run_merge *merge, size_t record_bytes, record_compare *compare) {
  *merge = (run_merge){.record_bytes = record_bytes, .compare = compare, .is_good = 1};
}

/* Makes a record available. Returns 0 at the end. */
static int fill(run_merge *merge, run_cursor *cursor) {
  size_t most = BUFFER_BYTES / merge->record_bytes, count = cursor->left < most ? (size_t)cursor->left : most;
  if (cursor->at < cursor->end) return 1;
  if (!count) return 0;
  if (!cursor->buffer) cursor->buffer = malloc(BUFFER_BYTES);
  if (!cursor->buffer || !spill_read(cursor->place, cursor->buffer, count * merge->record_bytes)) {
    merge->is_good = 0;
    return 0;
  }
  cursor->place += (int64_t)(count * merge->record_bytes);
  cursor->left -= count;
  cursor->at = cursor->buffer;
  cursor->end = cursor->buffer + count * merge->record_bytes;
  return 1;
}

static int is_before(const run_merge *merge, const run_cursor *one, const run_cursor *two) {
  int order = merge->compare(one->at, two->at);
  return order < 0 || (order == 0 && one->number < two->number);
}

/* Moves the first cursor down to its place in the heap. */
static void sift_down(run_merge *merge) {
  run_cursor *heap = merge->cursors, moved;
  uint32_t at = 0, child;
  moved = heap[0];
  while ((child = 2 * at + 1) < merge->count) {
    if (child + 1 < merge->count && is_before(merge, &heap[child + 1], &heap[child])) child++;
    if (!is_before(merge, &heap[child], &moved)) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = moved;
}

static void insert(run_merge *merge, run_cursor cursor) {
  uint32_t at;
  cursor.number = merge->added++;
  if (merge->count == merge->capacity) {
    uint32_t capacity = merge->capacity ? merge->capacity * 2 : 8;
    run_cursor *cursors = realloc(merge->cursors, capacity * sizeof *cursors);
    if (!cursors) {
      merge->is_good = 0;
      return;
    }
    merge->cursors = cursors;
    merge->capacity = capacity;
  }
  if (!fill(merge, &cursor)) {
    free(cursor.buffer);
    return;
  }
  for (at = merge->count++; at && is_before(merge, &cursor, &merge->cursors[(at - 1) / 2]); at = (at - 1) / 2)
    merge->cursors[at] = merge->cursors[(at - 1) / 2];
  merge->cursors[at] = cursor;
}

void run_merge_add(run_merge *merge, const void *records, uint64_t count) {
  const char *at = records;
  if (count) insert(merge, (run_cursor){.at = at, .end = at + count * merge->record_bytes});
}

void run_merge_add_spilled(run_merge *merge, const spilled_runs *runs) {
  for (uint32_t i = 0; i < runs->count; i++)
    insert(merge, (run_cursor){.place = runs->list[i].place, .left = runs->list[i].count});
}

/* The record that was returned last is still in its cursor, which moves on only now. */
static void pass(run_merge *merge) {
  run_cursor *first = merge->cursors;
  first->at += merge->record_bytes;
  if (first->at == first->end && !fill(merge, first)) {
    free(first->buffer);
    *first = merge->cursors[--merge->count];
  }
  if (merge->count > 1) sift_down(merge);
}

/* The only run that is left has no order to look at: its records are taken out of the cursor together. */
static const void *take_all(run_merge *merge) {
  run_cursor *only = merge->cursors;
  if (!fill(merge, only)) return NULL;
  merge->at = only->at + merge->record_bytes;
  merge->end = only->end;
  only->at = only->end;
  return merge->at - merge->record_bytes;
}

const void *run_merge_find_next(run_merge *merge) {
  if (merge->has_returned) pass(merge);
  merge->has_returned = merge->is_good && merge->count > 1;
  if (merge->has_returned) return merge->cursors[0].at;
  return merge->is_good && merge->count ? take_all(merge) : NULL;
}

void run_merge_free(run_merge *merge) {
  for (uint32_t i = 0; i < merge->count; i++) free(merge->cursors[i].buffer);
  free(merge->cursors);
  *merge = (run_merge){0};
}
