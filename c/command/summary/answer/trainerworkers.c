/* trainerworkers.c - the processes that load for a trainer in its training loop.
 * SPDX-License-Identifier: MIT */
#include "trainerworkers.h"

#include <stdlib.h>

/* A process begins or ends. */
typedef struct life_change {
  int64_t time;
  int change;
} life_change;

/* Of equal times, ends come first. */
static int by_time(const void *a, const void *b) {
  const life_change *one = a, *two = b;
  if (one->time != two->time) return one->time < two->time ? -1 : 1;
  return one->change - two->change;
}

/* Lives, as they are found. */
typedef struct life_list {
  life_change *changes;
  uint32_t count; /* two of each life */
} life_list;

static void add_life(life_list *lives, time_span life) {
  lives->changes[lives->count++] = (life_change){life.start, 1};
  lives->changes[lives->count++] = (life_change){life.end, -1};
}

static uint32_t most_at_once(life_list *lives) {
  int most = 0, now = 0;
  if (lives->count) qsort(lives->changes, lives->count, sizeof *lives->changes, by_time);
  for (uint32_t i = 0; i < lives->count; i++) {
    now += lives->changes[i].change;
    if (now > most) most = now;
  }
  return (uint32_t)most;
}

/* A trainer's time, and those who load for it. */
typedef struct worker_count {
  trainer_workers *workers;
  spanset loop;           /* without evaluation */
  process_counts *counts; /* of the trainer */
  life_list loading, empty;
} worker_count;

/* A worker that has nothing left to load is idle until its loader ends, though it records nothing. */
static int find_end(const worker_count *count, time_span *life) {
  spanset *starts = &count->counts->starts;
  span_stream line;
  time_span next;
  int is_good = span_stream_open(&line, &starts, 1);
  while (is_good && span_stream_next(&line, &next)) {
    if (next.start < life->end) continue;
    life->end = next.start;
    break;
  }
  is_good = is_good && line.merge.is_good;
  span_stream_close(&line);
  return is_good;
}

static int measure_life(worker_count *count, time_span life, uint64_t *ns) {
  spanset own = {0}, *one = &own, *loop = &count->loop;
  span_lengths lengths = {0};
  const int is_good = spanset_add(&own, life.start, life.end) && spanset_measure(&one, 1, &loop, 1, &lengths);
  spanset_free(&own);
  *ns = lengths.common;
  return is_good;
}

static int add_worker(worker_count *count, summary_state *state, uint32_t number, spanset *evaluation) {
  process_counts *counts = &state->processes[number].counts;
  const state_source *source = &state->sources[state->processes[number].source];
  spanset *data = &counts->data, *loop = &count->loop;
  span_lengths in_loop = {0}, in_evaluation = {0};
  time_span life = {source->first, source->last};
  uint64_t life_ns = 0;
  if (!spanset_measure(&data, 1, &loop, 1, &in_loop)) return 0;
  if (!spanset_measure(&data, 1, &evaluation, 1, &in_evaluation)) return 0;
  if (!in_loop.common || in_loop.common < in_evaluation.common) return 1;
  if (!find_end(count, &life)) return 0;
  if (life.start < count->counts->loop_first) life.start = count->counts->loop_first;
  if (life.end > count->counts->loop_last) life.end = count->counts->loop_last;
  if (!counts->ai_count[AI_DATA]) {
    add_life(&count->empty, life);
    return 1;
  }
  if (!measure_life(count, life, &life_ns)) return 0;
  add_life(&count->loading, life);
  count->workers->count++;
  count->workers->life_ns += life_ns;
  count->workers->busy_ns += in_loop.common;
  if (life_ns && (double)in_loop.common > count->workers->busiest_share * (double)life_ns) {
    count->workers->busiest = number;
    count->workers->busiest_share = (double)in_loop.common / (double)life_ns;
    count->workers->busiest_ns = in_loop.common;
  }
  return 1;
}

static int add_workers(worker_count *count, summary_state *state, const worker_lists *lists, uint32_t trainer) {
  spanset *evaluation = &state->processes[trainer].counts.evaluation;
  int is_good = 1;
  for (uint32_t i = lists->first[trainer]; is_good && i; i = lists->next[i])
    is_good = add_worker(count, state, i, evaluation);
  return is_good;
}

int trainer_workers_measure(trainer_workers *workers, summary_state *state, const worker_lists *lists, uint32_t trainer,
                            uint64_t wait_ns) {
  process_counts *counts = &state->processes[trainer].counts;
  const size_t room = 2 * (size_t)worker_lists_count(lists, trainer) + 1;
  worker_count count = {.workers = workers, .counts = counts};
  spanset *loop = &count.loop;
  span_lengths lengths = {0};
  int is_good;
  *workers = (trainer_workers){0};
  count.loading.changes = malloc(room * sizeof(life_change));
  count.empty.changes = malloc(room * sizeof(life_change));
  is_good = count.loading.changes && count.empty.changes && training_loop(counts, &count.loop) &&
            spanset_measure(&loop, 1, NULL, 0, &lengths) && add_workers(&count, state, lists, trainer);
  if (is_good) {
    workers->at_once = most_at_once(&count.loading);
    workers->empty = most_at_once(&count.empty);
    if ((double)workers->busiest_ns * workers->count < (double)workers->busy_ns)
      workers->busiest = 0; /* it only ended early: others load more */
    if (workers->count && lengths.one > wait_ns)
      workers->enough = (workers->busy_ns + lengths.one - wait_ns - 1) / (lengths.one - wait_ns);
  }
  free(count.loading.changes);
  free(count.empty.changes);
  spanset_free(&count.loop);
  return is_good;
}
