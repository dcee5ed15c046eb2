/* answer.c - a sorted state as ordered lists and labels.
 * SPDX-License-Identifier: MIT */
#include "answer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/summary/state/state_sort.h"

/* ---- Sums ----------------------------------------------------------------------------------------------------------- */

static int measure_transfers(summary_answer *answer) {
  spanset *reads = &answer->state->reads, *writes = &answer->state->writes;
  span_lengths lengths;
  if (!spanset_measure(&reads, 1, &writes, 1, &lengths)) return 0;
  answer->reading_ns = lengths.one;
  answer->writing_ns = lengths.two;
  return 1;
}

int answer_init(summary_answer *answer, summary_state *state, const run_list *runs) {
  const int is_one_run = runs->shown != RUN_ALL || runs->count < 2;
  state_sort(state);
  *answer = (summary_answer){.state = state, .runs = runs, .grain_ns = state->has_fractions ? 1 : 1000};
  if (!state->is_good) return 0;
  if (state->first > state->last) state->first = state->last = 0;
  answer->job_ns = time_between(state->first, state->last);
  for (uint32_t i = 0; i < state->source_count; i++) {
    if (state->sources[i].unit_ns && state->sources[i].unit_ns < answer->grain_ns)
      answer->grain_ns = state->sources[i].unit_ns;
    if (state->sources[i].unit_ns > answer->unit_ns) answer->unit_ns = state->sources[i].unit_ns;
  }
  for (uint32_t i = 0; i < state->thread_count; i++) {
    const state_thread *thread = &state->threads[i];
    answer->io_ns += thread->io_ns;
    answer->process_ns += thread->process_ns;
    answer->region_ns += thread->region_ns;
    answer->thread_ns += time_between(thread->first, thread->last);
  }
  answer->covered_ns = answer->region_ns + answer->process_ns + answer->io_ns;
  answer->outside_ns = answer->thread_ns - answer->covered_ns;
  for (uint32_t i = 1; i <= runs->count; i++) {
    if (runs->shown != RUN_ALL && runs->shown != i) continue;
    answer->processes += runs->runs[i - 1].processes;
    answer->threads += runs->runs[i - 1].threads;
  }
  for (uint32_t i = 1; i <= state->process_count; i++) {
    answer->calls += state->processes[i].counts.calls;
    if (!io_stats_merge(&answer->io, &state->processes[i].counts.io)) return 0;
  }
  return measure_transfers(answer) && training_sum(state, &answer->training) &&
         trainer_list_init(&answer->trainers, state) && job_facts_init(&answer->facts, state, is_one_run) &&
         collective_list_init(&answer->collectives, state) && rank_region_list_init(&answer->rank_regions, state) &&
         io_folders_find(answer->folders, state) && comm_matrix_init(&answer->matrix, state);
}

void answer_free(summary_answer *answer) {
  histogram_free(&answer->io.sizes);
  trainer_list_free(&answer->trainers);
  job_facts_free(&answer->facts);
  collective_list_free(&answer->collectives);
  rank_region_list_free(&answer->rank_regions);
  comm_matrix_free(&answer->matrix);
}

/* ---- Events --------------------------------------------------------------------------------------------------------- */

static int by_self(const void *a, const void *b) {
  const answer_group *one = a, *two = b;
  if (one->stats->self_ns != two->stats->self_ns) return one->stats->self_ns > two->stats->self_ns ? -1 : 1;
  if (one->stats->total_ns != two->stats->total_ns) return one->stats->total_ns > two->stats->total_ns ? -1 : 1;
  return (one->number > two->number) - (one->number < two->number);
}

answer_group *answer_groups(const summary_state *state, uint32_t *count) {
  answer_group *list = calloc((size_t)state->group_numbers.count + 1, sizeof *list);
  *count = 0;
  for (uint32_t i = 1; list && i <= state->group_numbers.count; i++) {
    if (state->groups[i].durations.count) list[(*count)++] = (answer_group){i, &state->groups[i]};
  }
  if (list) qsort(list, *count, sizeof *list, by_self);
  return list;
}

/* ---- I/O ------------------------------------------------------------------------------------------------------------ */

static int by_io_time(const void *a, const void *b) {
  const answer_io *one = a, *two = b;
  uint64_t one_ns = io_stats_ns(one->stats), two_ns = io_stats_ns(two->stats);
  if (one_ns != two_ns) return one_ns > two_ns ? -1 : 1;
  return (one->number > two->number) - (one->number < two->number);
}

answer_io *answer_files(const summary_state *state, uint32_t *count) {
  answer_io *list = calloc((size_t)state->file_numbers.count + 1, sizeof *list);
  *count = 0;
  for (uint32_t i = 1; list && i <= state->file_numbers.count; i++) {
    if (io_stats_calls(state_file_io(state, i))) list[(*count)++] = (answer_io){i, state_file_io(state, i)};
  }
  if (list) qsort(list, *count, sizeof *list, by_io_time);
  return list;
}

answer_io *answer_processes(const summary_state *state, uint32_t *count) {
  answer_io *list = calloc((size_t)state->process_count + 1, sizeof *list);
  *count = 0;
  for (uint32_t i = 1; list && i <= state->process_count; i++) {
    const io_stats *stats = &state->processes[i].counts.io;
    if (io_stats_calls(stats)) list[(*count)++] = (answer_io){i, stats};
  }
  if (list) qsort(list, *count, sizeof *list, by_io_time);
  return list;
}

static int by_count(const void *a, const void *b) {
  const answer_failure *one = a, *two = b;
  if (one->count != two->count) return one->count > two->count ? -1 : 1;
  if (one->name != two->name) return one->name < two->name ? -1 : 1;
  if (one->file != two->file) return one->file < two->file ? -1 : 1;
  return (one->error > two->error) - (one->error < two->error);
}

answer_failure *answer_failures(const summary_state *state, uint32_t *count) {
  answer_failure *list = calloc((size_t)state->failure_numbers.count + 1, sizeof *list);
  *count = list ? state->failure_numbers.count : 0;
  for (uint32_t i = 0; i < *count; i++) {
    const numbered key = state->failure_numbers.keys[i + 1];
    list[i] = (answer_failure){(uint32_t)(key.a >> 32), (uint32_t)key.a, key.b, state->failures[i + 1]};
  }
  if (list) qsort(list, *count, sizeof *list, by_count);
  return list;
}

/* ---- Labels --------------------------------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void put(answer_label *label, const char *format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(label->room, sizeof label->room, format, values);
  va_end(values);
  label->text = (dft_text){label->room, strlen(label->room)};
}

static void put_number(answer_label *label, int64_t number) {
  if (number != NO_NUMBER) put(label, "%" PRId64, number);
}

static dft_text text_of(const summary_state *state, state_name entry) {
  return state_text_of(state, entry.name ? entry.name : entry.hash);
}

dft_text answer_host(const summary_state *state, uint32_t hash) {
  uint32_t host = numbering_find(&state->host_numbers, hash, 0);
  return host ? text_of(state, state->hosts[host]) : state_text_of(state, hash);
}

dft_text answer_file(const summary_state *state, uint32_t file) {
  if (!state->files[file].hash) return (dft_text){"(no file)", 9};
  return text_of(state, state->files[file]);
}

dft_text answer_file_of(const summary_state *state, uint32_t hash) {
  uint32_t file = numbering_find(&state->file_numbers, hash, 0);
  return file ? answer_file(state, file) : state_text_of(state, hash);
}

void answer_process_label(const summary_state *state, uint32_t number, answer_label *label) {
  label->text = (dft_text){label->room, process_label(label->room, state, number)};
}

void answer_group_labels(const summary_state *state, uint32_t group, answer_label *one, answer_label *two) {
  const numbered key = state->group_numbers.keys[group];
  one->text = two->text = (dft_text){"", 0};
  switch (state->question.by) {
    case BY_FILE: one->text = answer_file_of(state, (uint32_t)key.a); break;
    case BY_PROCESS: answer_process_label(state, (uint32_t)key.a, one); break;
    case BY_THREAD:
      put(one, "%" PRIu64, key.b);
      answer_process_label(state, (uint32_t)key.a, two);
      break;
    case BY_RANK: put_number(one, (int64_t)key.a); break;
    case BY_STEP:
      put_number(one, (int64_t)key.b);
      put_number(two, (int64_t)key.a);
      break;
    default: one->text = state_text_of(state, (uint32_t)key.a); two->text = state_text_of(state, (uint32_t)key.b);
  }
}

void answer_titles(uint32_t by, const char **one, const char **two) {
  static const char *const titles[][2] = {
    [BY_NAME] = {"name", "cat"},         [BY_FILE] = {"file", NULL},    [BY_PROCESS] = {"process", NULL},
    [BY_THREAD] = {"thread", "process"}, [BY_STEP] = {"step", "epoch"}, [BY_RANK] = {"rank", NULL},
  };
  *one = titles[by][0];
  *two = titles[by][1];
}
