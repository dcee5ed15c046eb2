/* collect.c - reads traces into a state, with several workers.
 * SPDX-License-Identifier: MIT */
#include "collect.h"

#include <stdlib.h>

#include "resort.h"
#include "transcript.h"

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
    worker->source = NO_SOURCE;
    trace_life_init(&worker->life);
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

/* Counts all rows into the parts of the analysis. */
static int read_all(analysis *shared, progress *shown) {
  worker_crew crew = {0};
  int is_good = crew_init(&crew, shared, shown);
  if (is_good) crew_run(&crew, worker_run);
  for (uint32_t i = 0; is_good && i < crew.queue_count; i++) {
    if (!shared->sources[i].counts) continue;
    worker_turn_to(&crew.workers[0], i); /* its end never came */
    account_source_end(shared, &crew.workers[0].counts, i);
  }
  if (is_good) worker_turn_to(&crew.workers[0], NO_SOURCE);
  if (is_good && has_disorder(shared)) crew_run(&crew, resort_run);
  for (uint32_t i = 0; i < crew.worker_count; i++) is_good &= crew.workers[i].counts.is_good;
  crew_free(&crew);
  trace_parts_settle(&shared->parts);
  return is_good && !shared->is_short && shared->parts.is_good;
}

const char *collect_traces(state_parts *parts, dft_reader *reader, const summary_question *question,
                           const int64_t *origins, progress *shown) {
  analysis *shared = calloc(1, sizeof *shared); /* too large for a stack */
  int is_full;
  parts->is_good = shared && analysis_init(shared, reader, question, origins) && read_all(shared, shown);
  if (parts->is_good) transcript_write(parts, shared);
  is_full = shared && shared->is_full;
  if (shared) analysis_free(shared);
  free(shared);
  if (is_full) return "there are more than 1,048,575 threads, or names of events";
  return parts->is_good ? NULL : "out of memory";
}
