/* totals.c - reads all traces with several workers and merges what they counted.
 * SPDX-License-Identifier: MIT */
#include "totals.h"

#include <stdlib.h>

#include "resort.h"

/* What exists while traces are read. */
typedef struct worker_crew {
  summary_worker *workers;
  pthread_t *threads;
  uint32_t worker_count;
  unit_queue *queues; /* by source */
  uint32_t queue_count;
  _Atomic uint32_t next_source;
} worker_crew;

static int crew_init(worker_crew *crew, analysis *shared, progress *shown) {
  uint32_t workers = (uint32_t)shared->question->threads;
  uint32_t sources = dft_reader_source_count(shared->reader);
  crew->workers = calloc(workers, sizeof *crew->workers);
  crew->threads = calloc(workers, sizeof *crew->threads);
  crew->queues = calloc(sources + 1, sizeof *crew->queues);
  if (!crew->workers || !crew->threads || !crew->queues) return 0;
  for (; crew->queue_count < sources; crew->queue_count++) unit_queue_init(&crew->queues[crew->queue_count]);
  for (; crew->worker_count < workers; crew->worker_count++) {
    summary_worker *worker = &crew->workers[crew->worker_count];
    worker->shared = shared;
    worker->queues = crew->queues;
    worker->progress = shown;
    worker->next_source = &crew->next_source;
    tally_init(&worker->counts);
    if (dft_cursor_open(shared->reader, DFT_ALL, &worker->cursor) != DFT_OK) worker->counts.is_good = 0;
  }
  return 1;
}

/* The first worker is the calling thread. */
static void crew_run(worker_crew *crew, void *run(void *worker)) {
  uint32_t started = 1;
  while (started < crew->worker_count &&
         pthread_create(&crew->threads[started], NULL, run, &crew->workers[started]) == 0) {
    started++;
  }
  run(&crew->workers[0]);
  for (uint32_t i = 1; i < started; i++) pthread_join(crew->threads[i], NULL);
}

static void crew_free(worker_crew *crew) {
  for (uint32_t i = 0; i < crew->worker_count; i++) worker_free(&crew->workers[i]);
  for (uint32_t i = 0; i < crew->queue_count; i++) unit_queue_free(&crew->queues[i]);
  free(crew->workers);
  free(crew->threads);
  free(crew->queues);
}

static int has_disorder(const analysis *shared) {
  for (uint32_t i = 0; i < dft_reader_source_count(shared->reader); i++) {
    if (shared->sources[i].is_disordered) return 1;
  }
  return 0;
}

/* Counts all rows into totals->counts. */
static int read_all(trace_totals *totals, progress *shown) {
  worker_crew crew = {0};
  int is_good = crew_init(&crew, &totals->shared, shown);
  if (is_good) crew_run(&crew, worker_run);
  for (uint32_t i = 0; i < crew.queue_count; i++) account_source_end(&totals->shared, &totals->counts, i);
  if (is_good && has_disorder(&totals->shared)) crew_run(&crew, resort_run);
  for (uint32_t i = 0; i < crew.worker_count; i++) tally_merge(&totals->counts, &crew.workers[i].counts);
  crew_free(&crew);
  return is_good && totals->counts.is_good;
}

static void add_threads(trace_totals *totals) {
  for (uint32_t i = 1; i <= totals->shared.thread_numbers.count; i++) {
    const traced_thread *thread = analysis_thread(&totals->shared, i);
    totals->io_ns += thread->io_ns;
    totals->region_ns += thread->region_ns;
    totals->thread_ns += (uint64_t)(thread->time.last - thread->time.first);
    totals->overrun += thread->backlog.overrun;
  }
}

static uint64_t find_grain(dft_reader *reader) {
  dft_source source = {.struct_size = sizeof source};
  uint64_t grain_ns = 1000;
  for (uint32_t i = 0; i < dft_reader_source_count(reader); i++) {
    dft_reader_source(reader, i, &source);
    if (source.unit_ns < grain_ns) grain_ns = source.unit_ns;
  }
  return grain_ns;
}

int totals_collect(trace_totals *totals, dft_reader *reader, const summary_question *question, progress *shown) {
  tally *counts = &totals->counts;
  tally_init(counts);
  if (!analysis_init(&totals->shared, reader, question) || !read_all(totals, shown)) return 0;
  add_threads(totals);
  totals->grain_ns = find_grain(reader);
  if (counts->first > counts->last) counts->first = counts->last = 0;
  return training_sum(&totals->shared, counts, &totals->training);
}

void totals_free(trace_totals *totals) {
  tally_free(&totals->counts);
  analysis_free(&totals->shared);
}
