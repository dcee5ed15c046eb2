/* resort.c - reads the sources again whose lines are far out of order.
 * SPDX-License-Identifier: MIT */
#include "resort.h"

#include <stdlib.h>

#include "command/trace/runmerge.h"

#define RUN_MOMENTS 65536u /* that are sorted together */

/* The events of a source: sorted runs in the spill, and those of the last one. */
typedef struct moment_pile {
  moment *moments;
  uint32_t count;
  spilled_runs runs;
} moment_pile;

static int pile_add(moment_pile *pile, const moment *moments, uint32_t count) {
  if (!pile->moments) pile->moments = malloc(RUN_MOMENTS * sizeof *pile->moments);
  if (!pile->moments) return 0;
  for (uint32_t i = 0; i < count; i++) {
    if (pile->count == RUN_MOMENTS) {
      if (!moments_sort(pile->moments, pile->count)) return 0;
      if (!spilled_runs_add(&pile->runs, pile->moments, pile->count, sizeof *moments)) return 0;
      pile->count = 0;
    }
    pile->moments[pile->count++] = moments[i];
  }
  return 1;
}

static void pile_free(moment_pile *pile) {
  free(pile->moments);
  spilled_runs_free(&pile->runs);
}

/* Takes the events of the pile in order. Runs come in the order of the file, so equal events do, too. */
static void account_pile(analysis *shared, tally *counts, uint32_t source, moment_pile *pile) {
  run_merge merge;
  const moment *event;
  if (pile->count && !moments_sort(pile->moments, pile->count)) counts->is_good = 0;
  run_merge_init(&merge, sizeof *event, moment_compare);
  run_merge_add_spilled(&merge, &pile->runs);
  run_merge_add(&merge, pile->moments, pile->count);
  while (counts->is_good && (event = run_merge_next(&merge)) != NULL) account_sorted(shared, counts, source, event);
  counts->is_good &= merge.is_good;
  run_merge_free(&merge);
}

/* What does not depend on the order was counted the first time: the worker's tally is replaced by another one meanwhile. */
static int collect(summary_worker *worker, uint32_t source, moment_pile *pile) {
  tally counted = worker->counts;
  dft_cursor *cursor;
  const dft_rows *rows;
  int is_good = dft_cursor_open(worker->shared->reader, source, &cursor) == DFT_OK;
  if (!is_good) return 0;
  tally_init(&worker->counts);
  do {
    is_good = dft_cursor_next(cursor, &rows) == DFT_OK;
    if (is_good && rows) {
      uint32_t count = worker_read(worker, rows);
      is_good = worker->counts.is_good && pile_add(pile, worker->events, count);
    }
  } while (is_good && rows);
  dft_cursor_close(cursor);
  tally_free(&worker->counts);
  worker->counts = counted;
  return is_good;
}

static void sort_source(summary_worker *worker, uint32_t source) {
  analysis *shared = worker->shared;
  moment_pile pile = {0};
  worker_turn_to(worker, source);
  if (!collect(worker, source, &pile)) worker->counts.is_good = 0;
  shared->sources[source].is_disordered = 0;
  account_pile(shared, &worker->counts, source, &pile);
  account_source_end(shared, &worker->counts, source);
  pile_free(&pile);
}

void *resort_run(void *context) {
  summary_worker *worker = context;
  const uint32_t count = dft_reader_source_count(worker->shared->reader);
  uint32_t source;
  while (worker->counts.is_good && (source = atomic_fetch_add(worker->next_source, 1)) < count) {
    if (worker->shared->sources[source].is_disordered) sort_source(worker, source);
  }
  worker_turn_to(worker, NO_SOURCE);
  return NULL;
}
