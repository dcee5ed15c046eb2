/* worker.c - one thread that reads rows, classifies them, and counts what does not depend on their order.
 * SPDX-License-Identifier: MIT */
#include "worker.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "factrows.h"

/* ---- Numbers -------------------------------------------------------------------------------------------------------- */

/* The pair's slot of a cache; *is_known: it holds the pair's number. Otherwise the caller has to set that. */
static cached_number *find_slot(cached_number *cache, uint64_t a, uint64_t b, int *is_known) {
  cached_number *slot = &cache[(numbered_hash(a, b) >> 40) % CACHED_NUMBERS];
  *is_known = slot->number && slot->a == a && slot->b == b;
  slot->a = a;
  slot->b = b;
  return slot;
}

static uint32_t class_number(summary_worker *worker, uint32_t name, uint32_t cat) {
  int is_known;
  cached_number *slot = find_slot(worker->classes, name, cat, &is_known);
  if (!is_known) slot->number = analysis_number_class(worker->shared, name, cat);
  return slot->number;
}

static uint32_t group_number(summary_worker *worker, uint64_t a, uint64_t b) {
  int is_known;
  cached_number *slot = find_slot(worker->groups, a, b, &is_known);
  if (!is_known) slot->number = analysis_number_group(worker->shared, a, b);
  return slot->number;
}

static uint32_t thread_number(summary_worker *worker, const dft_rows *rows, uint32_t row) {
  uint64_t pid = rows->pid[row], tid = rows->tid[row];
  int is_known;
  cached_number *slot = find_slot(worker->threads, pid ^ (uint64_t)rows->source << 40, tid, &is_known);
  if (!is_known) slot->number = analysis_number_thread(worker->shared, rows->source, pid, tid, rows->host[row]);
  return slot->number;
}

/* ---- Arguments ------------------------------------------------------------------------------------------------------ */

#define ERRORS_MOST 0x4000 /* errno is smaller */

/* The arguments of an event that the summary uses. */
typedef struct event_arguments {
  int64_t ret;    /* NO_RESULT: not given */
  int64_t offset; /* -1: not given */
  int64_t whence;
  int64_t length;
  int is_append;         /* of an open: writes begin at the end */
  int64_t worker, batch; /* -1: not given */
  int64_t error;
  int64_t epoch, step;  /* NO_STEP: not given */
  dft_text second_file; /* its hash */
} event_arguments;

static const event_arguments no_arguments = {
  .ret = NO_RESULT, .offset = -1, .worker = -1, .batch = -1, .epoch = NO_STEP, .step = NO_STEP};

static event_arguments arguments_of(const argument_keys *keys, const dft_rows *rows, uint32_t row) {
  event_arguments found = no_arguments;
  int64_t worker_pid = -1;
  for (uint32_t i = rows->arg_first[row]; i < rows->arg_first[row + 1]; i++) {
    const dft_cell *cell = &rows->args[i];
    if (cell->key == keys->ret) found.ret = cell_integer(cell, NO_RESULT);
    else if (cell->key == keys->error) found.error = cell_integer(cell, 0);
    else if (cell->key == keys->offset) found.offset = cell_integer(cell, -1);
    else if (cell->key == keys->whence) found.whence = cell_integer(cell, UINT8_MAX);
    else if (cell->key == keys->length) found.length = cell_integer(cell, 0);
    else if (cell->key == keys->worker) found.worker = cell_integer(cell, -1);
    else if (cell->key == keys->worker_pid) worker_pid = cell_integer(cell, -1);
    else if (cell->key == keys->batch) found.batch = cell_integer(cell, -1);
    else if (cell->key == keys->epoch) found.epoch = cell_integer(cell, NO_STEP);
    else if (cell->key == keys->step) found.step = cell_integer(cell, NO_STEP);
    else if (cell->key == keys->second_file && cell->type == DFT_STRING)
      found.second_file = (dft_text){cell->value.text, cell->len};
    else if (cell->key == keys->flags) found.is_append = (cell_integer(cell, 0) & O_APPEND) != 0;
    else if (cell->key == keys->mode && cell->type == DFT_STRING)
      found.is_append = cell->len && cell->value.text[0] == 'a';
  }
  if (worker_pid >= 0) found.worker = worker_pid; /* each of several loaders has a worker 0 */
  return found;
}

/* ---- Rows ----------------------------------------------------------------------------------------------------------- */

static uint32_t group_of(summary_worker *worker, const dft_rows *rows, const moment *event) {
  const analysis *shared = worker->shared;
  switch (shared->question->by) {
    case BY_FILE: return group_number(worker, event->file, 0);
    case BY_PROCESS:
    case BY_RANK: /* the rank may come later */
      return group_number(worker, rows->source,
                          analysis_process(shared, analysis_thread(shared, event->thread)->process)->pid);
    case BY_THREAD: return group_number(worker, event->thread, 0);
    default: return event->class_number;
  }
}

/* Of an epoch or a step. */
static int32_t short_number(int64_t number) {
  return number > INT32_MAX || number < INT32_MIN ? NO_STEP : (int32_t)number;
}

static int64_t end_of(const dft_rows *rows, uint32_t row) {
  return rows->start_ns[row] + (rows->dur_ns[row] > 0 ? rows->dur_ns[row] : 0);
}

/* Everything that accounting needs to know about an event, but its group. */
static moment make_moment(summary_worker *worker, const dft_rows *rows, uint32_t row, const event_arguments *arguments,
                          const event_class *class) {
  uint64_t level = rows->level[row];
  moment event = {
    .start = rows->start_ns[row],
    .end = end_of(rows, row),
    .offset = class->is_call ? arguments->offset : arguments->worker,
    .result = class->is_call ? io_result(class, arguments->ret, arguments->error, arguments->length) : arguments->batch,
    .group = NO_GROUP,
    .epoch = short_number(arguments->epoch),
    .step = short_number(arguments->step),
    .file = rows->file[row],
    .level = level > UINT16_MAX ? UINT16_MAX : (uint16_t)level,
    .error = arguments->error > 0 && arguments->error < ERRORS_MOST ? (uint16_t)arguments->error & (ERRORS_MOST - 1)
                                                                    : 0,
    .whence = arguments->whence >= 0 && arguments->whence <= SEEK_CUR ? (uint16_t)arguments->whence & 3 : SEEK_END};
  if (class->io == IO_OPEN) event.whence = arguments->is_append ? SEEK_END : SEEK_SET;
  event.thread = thread_number(worker, rows, row);
  return event;
}

/* One complete event. Returns 0 when it is not in the time that was asked for. */
static int read_event(summary_worker *worker, const dft_rows *rows, uint32_t row, moment *event) {
  analysis *shared = worker->shared;
  tally *counts = &worker->counts;
  const int is_by_step = shared->question->by == BY_STEP;
  const uint32_t number = class_number(worker, rows->name[row], rows->cat[row]);
  const event_class *class = analysis_class(shared, number);
  event_arguments arguments = arguments_of(&shared->keys, rows, row);
  if (!number) {
    counts->is_good = 0;
    return 0;
  }
  if (class->is_ours) fact_rows_bookkeeping(shared, counts, &worker->life, rows, row);
  trace_life_add(&worker->life, rows->start_ns[row], end_of(rows, row));
  if (rows->start_ns[row] < worker->from || rows->start_ns[row] > worker->to) return 0;
  *event = make_moment(worker, rows, row, &arguments, class);
  if (!event->thread) {
    counts->is_good = 0;
    return 0;
  }
  event->class_number = number;
  if (class->io == IO_COPY && arguments.second_file.len) {
    dft_text hash = arguments.second_file;
    event->second_file = dft_reader_number(shared->reader, DFT_FILES, hash.text, hash.len);
  }
  tally_add_time(counts, event->start, event->end);
  if (class->is_ours) return 1;
  counts->events++;
  /* By step, the group may be that of an event around this one: account.c counts it. */
  if (class->is_wanted && !is_by_step) {
    event->group = group_of(worker, rows, event);
    counts->is_good &= event->group != 0;
    tally_add_duration(counts, event->group, (uint64_t)(event->end - event->start));
  }
  return 1;
}

/* A line CM {"name":"not_recorded","value":"fetch"}: the process has a loader whose fetches are not in the trace. */
static int is_lost_fetch(const summary_worker *worker, const dft_rows *rows, uint32_t row) {
  const argument_keys *keys = &worker->shared->keys;
  int matches = 0;
  for (uint32_t i = rows->arg_first[row]; i < rows->arg_first[row + 1]; i++) {
    const dft_cell *cell = &rows->args[i];
    const char *word = cell->key == keys->name ? "not_recorded" : cell->key == keys->value ? "fetch" : "";
    matches += *word && cell->type == DFT_STRING && cell->len == strlen(word) &&
               memcmp(cell->value.text, word, cell->len) == 0;
  }
  return matches == 2;
}

static int reserve_events(summary_worker *worker, uint32_t capacity) {
  moment *events;
  if (capacity <= worker->event_capacity) return 1;
  events = realloc(worker->events, capacity * sizeof *events);
  if (!events) return 0;
  worker->events = events;
  worker->event_capacity = capacity;
  return 1;
}

/* Every row is one of these four. */
uint32_t worker_read(summary_worker *worker, const dft_rows *rows) {
  tally *counts = &worker->counts;
  uint32_t count = 0;
  if (!reserve_events(worker, rows->count)) {
    counts->is_good = 0;
    return 0;
  }
  for (uint32_t i = 0; i < rows->count; i++) {
    if (rows->host[i] && rows->host[i] != worker->host) {
      worker->host = rows->host[i];
      analysis_add_host(worker->shared, rows->source, worker->host);
    }
    switch (rows->phase[i]) {
      case DFT_COMPLETE: count += (uint32_t)read_event(worker, rows, i, &worker->events[count]); break;
      case DFT_METADATA:
        counts->metadata++;
        fact_rows_metadata(worker->shared, rows, i);
        counts->lost_fetches += is_lost_fetch(worker, rows, i);
        break;
      case DFT_COUNTER: counts->counters++; break;
      default: counts->others++;
    }
  }
  return count;
}

void worker_turn_to(summary_worker *worker, uint32_t source) {
  const analysis *shared = worker->shared;
  const summary_question *question = shared->question;
  if (source == worker->source) return;
  if (worker->source != NO_SOURCE)
    trace_parts_give(&worker->shared->parts, worker->source, &worker->counts, &worker->life);
  worker->source = source;
  worker->host = 0;
  if (source == NO_SOURCE) return;
  trace_parts_hold(&worker->shared->parts, source);
  worker->from = question->has_from ? shared->origins[source] + question->from_ns : INT64_MIN;
  worker->to = question->has_to ? shared->origins[source] + question->to_ns - 1 : INT64_MAX;
}

static void abandon_queues(summary_worker *worker) {
  for (uint32_t i = 0; i < dft_reader_source_count(worker->shared->reader); i++) unit_queue_abandon(&worker->queues[i]);
}

void *worker_run(void *context) {
  summary_worker *worker = context;
  const dft_rows *rows;
  while (worker->counts.is_good) {
    uint32_t count;
    if (dft_cursor_next(worker->cursor, &rows) != DFT_OK) worker->counts.is_good = 0;
    if (!worker->counts.is_good || !rows) break;
    worker_turn_to(worker, rows->source);
    count = worker_read(worker, rows);
    unit_queue_add(&worker->queues[rows->source], worker->shared, &worker->counts, rows, worker->events, count);
    if (worker->progress && rows->is_unit_end) progress_add(worker->progress, rows->count);
  }
  if (!worker->counts.is_good) abandon_queues(worker);
  worker_turn_to(worker, NO_SOURCE);
  return NULL;
}

void worker_free(summary_worker *worker) {
  dft_cursor_close(worker->cursor);
  free(worker->events);
  free(worker->life.run);
  tally_free(&worker->counts);
}
