/* runmerge.h - merges sorted runs of records, in memory and in the spill, into one sorted sequence. Equal records come in the
 * order in which their runs were added. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_RUNMERGE_H
#define DFTRACER_RUNMERGE_H

#include <stddef.h>
#include <stdint.h>

/* Sorted records in the spill. */
typedef struct spilled_run {
  int64_t place;
  uint64_t count;
} spilled_run;

/* The runs that one sequence was spilled as. */
typedef struct spilled_runs {
  spilled_run *list;
  uint32_t count, capacity;
} spilled_runs;

/* Spills the records as a new run. 0: no memory, or no room. */
int spilled_runs_add(spilled_runs *runs, const void *records, uint64_t count, size_t record_bytes);
/* Adds a run of another sequence, whose list then forgets it. 0: no memory. */
int spilled_runs_take(spilled_runs *runs, spilled_run run);
void spilled_runs_free(spilled_runs *runs);

typedef int record_compare(const void *one, const void *two);
typedef struct run_cursor run_cursor;

typedef struct run_merge {
  size_t record_bytes;
  record_compare *compare;
  run_cursor *cursors; /* a heap: the first one has the least record */
  uint32_t count, capacity;
  uint32_t added;
  const char *at, *end; /* of the only run that is left: what comes next, without its cursor */
  int has_returned;     /* the first cursor's record was returned */
  int is_good;          /* 0: no memory, or the spill cannot be read */
} run_merge;

void run_merge_init(run_merge *merge, size_t record_bytes, record_compare *compare);
/* Adds runs, before the first record is read; they must not change until the merge is freed. */
void run_merge_add(run_merge *merge, const void *records, uint64_t count);
void run_merge_add_spilled(run_merge *merge, const spilled_runs *runs);
const void *run_merge_find_next(run_merge *merge); /* when the records of the only run are not at hand */
/* The next record, valid until the next call. NULL at the end, and when is_good became 0. */
static inline const void *run_merge_next(run_merge *merge) {
  const char *record = merge->at;
  if (record == merge->end) return run_merge_find_next(merge);
  merge->at = record + merge->record_bytes;
  return record;
}
void run_merge_free(run_merge *merge);

#endif
