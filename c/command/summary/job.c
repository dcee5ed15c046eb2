/* job.c - reads all traces with several workers and adds up what they counted.
 * SPDX-License-Identifier: MIT */
#include "job.h"

#include <stdlib.h>
#include <string.h>

#include "command/trace/selection.h"

/* ---- Reading -------------------------------------------------------------------------------------------------------- */

static void *work_on(void *argument) {
  worker *of = argument;
  const dft_rows *rows;
  while (of->is_good) {
    if (dft_cursor_next(of->cursor, &rows) != DFT_OK) of->is_good = 0;
    if (!of->is_good || !rows) break;
    worker_rows(of, rows);
    if (of->of->progress && rows->is_unit_end) progress_add(of->of->progress, rows->count);
  }
  return NULL;
}

static uint32_t key(dft_reader *reader, const char *name) {
  return dft_reader_number(reader, DFT_KEYS, name, strlen(name));
}

static void look_up_keys(job *of) {
  of->key_ret = key(of->reader, "ret");
  of->key_second_file = key(of->reader, "path2_hash");
  of->key_offset = key(of->reader, "offset");
  of->key_epoch = key(of->reader, "epoch");
  of->key_step = key(of->reader, "step");
  of->key_num_dropped = key(of->reader, "num_dropped");
  of->key_recovered = key(of->reader, "recovered");
  of->key_ppid = key(of->reader, "ppid");
  of->key_name = key(of->reader, "name");
  of->key_value = key(of->reader, "value");
}

static int prepare(job *of) {
  uint32_t sources = dft_reader_source_count(of->reader);
  int is_new;
  pthread_mutex_init(&of->lock, NULL);
  of->site_numbers.limit = SITES_MAX;
  of->group_numbers.limit = GROUPS_MAX;
  of->thread_numbers.limit = of->process_numbers.limit = THREADS_MAX;
  of->no_step = numbering_of(&of->group_numbers, (uint64_t)NO_NUMBER, (uint64_t)NO_NUMBER, &is_new);
  look_up_keys(of);
  of->lanes = calloc(sources ? sources : 1, sizeof *of->lanes);
  of->sites[0] = calloc(BLOCK, sizeof(site)); /* number 0: what found no room */
  of->workers = calloc((size_t)of->question->threads, sizeof *of->workers);
  if (!of->lanes || !of->sites[0] || !of->workers) return 0;
  for (uint32_t i = 0; i < sources; i++) {
    pthread_mutex_init(&of->lanes[i].lock, NULL);
    pthread_cond_init(&of->lanes[i].moved, NULL);
  }
  if (of->question->has_from || of->question->has_to) of->origin = selection_origin(of->reader);
  return of->origin != INT64_MIN;
}

static void run_workers(job *of) {
  int started = 0;
  for (int i = 0; i < of->question->threads; i++) {
    worker *one = &of->workers[i];
    *one = (worker){.of = of, .first = INT64_MAX, .last = INT64_MIN, .is_good = 1};
    if (dft_cursor_open(of->reader, DFT_ALL, &one->cursor) != DFT_OK) one->is_good = 0;
    of->worker_count++;
  }
  for (int i = 1; i < of->worker_count; i++, started++) {
    if (pthread_create(&of->workers[i].thread, NULL, work_on, &of->workers[i]) != 0) break;
  }
  work_on(&of->workers[0]);
  for (int i = 1; i <= started; i++) pthread_join(of->workers[i].thread, NULL);
}

/* ---- Adding up ------------------------------------------------------------------------------------------------------ */

static int add_groups(worker *all, worker *one) {
  for (uint32_t i = 0; i < one->group_capacity; i++) {
    group_stats *from = &one->groups_seen[i], *into;
    if (!from->durations.count && !from->self_ns) continue;
    into = worker_group(all, i);
    if (!into) return 0;
    job_add(&into->total_ns, from->total_ns);
    into->self_ns += from->self_ns;
    if (!histogram_merge(&into->durations, &from->durations)) return 0;
    histogram_free(&from->durations); /* there may be many */
  }
  return 1;
}

static int add_files(worker *all, worker *one) {
  for (uint32_t i = 0; i < one->file_capacity; i++) {
    io_stats *into;
    if (!one->files[i].reads && !one->files[i].writes && !one->files[i].others) continue;
    into = worker_file(all, i);
    if (!into || !io_merge(into, &one->files[i])) return 0;
  }
  return 1;
}

static int add_epochs(worker *all, worker *one) {
  for (uint32_t i = 1; i <= one->epochs.count; i++) {
    const epoch_stats *from = &one->epoch_list[i];
    epoch_stats *into = worker_epoch(all, (int64_t)one->epochs.keys[i].a);
    if (!into) return 0;
    into->fetches += from->fetches;
    into->computes += from->computes;
    into->fetch_ns += from->fetch_ns;
    into->compute_ns += from->compute_ns;
    if (from->first < into->first) into->first = from->first;
    if (from->last > into->last) into->last = from->last;
  }
  return 1;
}

static int add_worker(job *of, worker *one) {
  worker *all = &of->all;
  all->events += one->events;
  all->counters += one->counters;
  all->metadata += one->metadata;
  all->others += one->others;
  all->dropped += one->dropped;
  all->recovered += one->recovered;
  if (one->first < all->first) all->first = one->first;
  if (one->last > all->last) all->last = one->last;
  return one->is_good && add_groups(all, one) && add_files(all, one) && add_epochs(all, one);
}

static void add_threads(job *of) {
  for (uint32_t i = 1; i <= of->thread_numbers.count; i++) {
    const thread *one = job_thread(of, i);
    of->io_ns += one->io_ns;
    of->region_ns += one->region_ns;
    of->thread_ns += (uint64_t)(one->time.last - one->time.first);
    of->late += one->time.late;
    of->merged += one->time.merged;
    of->overrun += one->overrun;
  }
}

static void find_grain(job *of) {
  dft_source source = {.struct_size = sizeof source};
  of->grain = 1000;
  for (uint32_t i = 0; i < dft_reader_source_count(of->reader); i++) {
    dft_reader_source(of->reader, i, &source);
    if (source.unit_ns < of->grain) of->grain = source.unit_ns;
  }
}

int job_run(job *of, dft_reader *reader, const job_question *question) {
  int is_good;
  of->reader = reader;
  of->question = question;
  of->all = (worker){.of = of, .first = INT64_MAX, .last = INT64_MIN, .is_good = 1};
  if (!prepare(of)) return 0;
  run_workers(of);
  for (uint32_t i = 0; i < dft_reader_source_count(reader); i++) lane_flush(&of->workers[0], &of->lanes[i]);
  is_good = 1;
  for (int i = 0; i < of->worker_count; i++) is_good &= add_worker(of, &of->workers[i]);
  add_threads(of);
  is_good &= training_join(of);
  find_grain(of);
  if (of->all.first > of->all.last) of->all.first = of->all.last = 0;
  return is_good;
}

/* ---- Freeing -------------------------------------------------------------------------------------------------------- */

static void free_worker(worker *of) {
  dft_cursor_close(of->cursor);
  for (uint32_t i = 0; i < of->group_capacity; i++) histogram_free(&of->groups_seen[i].durations);
  for (uint32_t i = 0; i < of->file_capacity; i++) histogram_free(&of->files[i].sizes);
  free(of->groups_seen);
  free(of->files);
  free(of->epoch_list);
  free(of->moments);
  numbering_free(&of->epochs);
}

void job_free(job *of) {
  for (int i = 0; i < of->worker_count; i++) free_worker(&of->workers[i]);
  free_worker(&of->all);
  free(of->workers);
  for (uint32_t i = 1; i <= of->process_numbers.count; i++) {
    process *one = job_process(of, i);
    histogram_free(&one->io.sizes);
    work_free(&one->compute);
    work_free(&one->fetch);
    work_free(&one->data);
  }
  for (uint32_t i = 0; i <= THREADS_MAX / BLOCK; i++) {
    free(of->threads[i]);
    free(of->processes[i]);
  }
  for (uint32_t i = 0; i <= SITES_MAX / BLOCK; i++) free(of->sites[i]);
  for (uint32_t i = 0; of->lanes && i < dft_reader_source_count(of->reader); i++) free(of->lanes[i].threads);
  free(of->lanes);
  numbering_free(&of->site_numbers);
  numbering_free(&of->group_numbers);
  numbering_free(&of->thread_numbers);
  numbering_free(&of->process_numbers);
}
