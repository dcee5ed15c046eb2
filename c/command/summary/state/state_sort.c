/* state_sort.c - an order that depends on nothing but the content of a state.
 *
 * Texts come first: then their numbers can be compared in place of them. SPDX-License-Identifier: MIT */
#include "state_sort.h"

#include <stdlib.h>
#include <string.h>

/* An entry that moves: its key, and its place. */
typedef struct sort_entry {
  int64_t keys[4];
  uint32_t from;
} sort_entry;

static int by_keys(const void *a, const void *b) {
  const sort_entry *one = a, *two = b;
  for (int i = 0; i < 4; i++) {
    if (one->keys[i] != two->keys[i]) return one->keys[i] < two->keys[i] ? -1 : 1;
  }
  return 0;
}

/* Sorts the entries, moves the elements `first` to first + count - 1 of the list along, and returns the new number of each old
 * one, which the caller frees. NULL: no memory. */
static uint32_t *arrange(sort_entry *order, uint32_t first, uint32_t count, void *list, size_t entry_bytes) {
  char *from = list, *copy = malloc(((size_t)first + count + 1) * entry_bytes);
  uint32_t *numbers = calloc((size_t)first + count + 1, sizeof *numbers);
  if (!copy || !numbers) {
    free(copy);
    free(numbers);
    return NULL;
  }
  qsort(order, count, sizeof *order, by_keys);
  for (uint32_t i = 0; i < count; i++) {
    memcpy(copy + i * entry_bytes, from + order[i].from * entry_bytes, entry_bytes);
    numbers[order[i].from] = first + i;
  }
  if (count) memcpy(from + first * entry_bytes, copy, count * entry_bytes);
  free(copy);
  return numbers;
}

static sort_entry *entries(summary_state *state, uint32_t count) {
  sort_entry *order = calloc((size_t)count + 1, sizeof *order);
  if (!order) state->is_good = 0;
  return order;
}

/* ---- Texts ---------------------------------------------------------------------------------------------------------- */

static void renumber_names(numbering *hashes, state_name *names, const uint32_t *numbers) {
  for (uint32_t i = 1; i <= hashes->count; i++) {
    names[i] = (state_name){numbers[names[i].hash], numbers[names[i].name]};
    hashes->keys[i].a = names[i].hash;
  }
}

/* 0: no memory. */
static int sort_texts_of(state_process *process, const uint32_t *numbers) {
  state_process_rename(process, numbers);
  region_stats_sort(&process->counts.regions);
  return comm_counts_sort(&process->counts.comm);
}

static void sort_texts(summary_state *state) {
  uint32_t *numbers = text_pool_sort(&state->texts);
  const uint32_t by = state->question.by;
  if (!numbers) {
    state->is_good = 0;
    return;
  }
  for (uint32_t i = 0; i < state->question.name_count; i++)
    state->question.names[i] = numbers[state->question.names[i]];
  for (uint32_t i = 0; i < state->question.cat_count; i++) state->question.cats[i] = numbers[state->question.cats[i]];
  for (uint32_t i = 0; i < state->question.class_count; i++)
    state->question.classes[i] = numbers[state->question.classes[i]];
  for (uint32_t i = 0; i < state->source_count; i++) state->sources[i].path = numbers[state->sources[i].path];
  for (uint32_t i = 0; i < state->problem_count; i++) state->problems[i].path = numbers[state->problems[i].path];
  state->run = numbers[state->run];
  for (uint32_t i = 1; i <= state->process_count; i++) state->is_good &= sort_texts_of(&state->processes[i], numbers);
  renumber_names(&state->host_numbers, state->hosts, numbers);
  renumber_names(&state->command_numbers, state->commands, numbers);
  renumber_names(&state->file_numbers, state->files, numbers);
  for (uint32_t i = 1; i <= state->group_numbers.count; i++) {
    numbered *key = &state->group_numbers.keys[i];
    if (by == BY_NAME || by == BY_FILE) key->a = numbers[key->a];
    if (by == BY_NAME) key->b = numbers[key->b];
  }
  for (uint32_t i = 1; i <= state->call_numbers.count; i++) {
    numbered *key = &state->call_numbers.keys[i];
    *key = (numbered){numbers[key->a], numbers[key->b]};
  }
  for (uint32_t i = 1; i <= state->failure_numbers.count; i++) {
    numbered *key = &state->failure_numbers.keys[i];
    key->a = (uint64_t)numbers[key->a >> 32] << 32 | numbers[key->a & UINT32_MAX];
  }
  free(numbers);
}

/* ---- Lists ---------------------------------------------------------------------------------------------------------- */

static void sort_sources(summary_state *state) {
  sort_entry *order = entries(state, state->source_count);
  uint32_t *numbers = NULL;
  for (uint32_t i = 0; order && i < state->source_count; i++) {
    const state_source *source = &state->sources[i];
    order[i] = (sort_entry){{source->path, source->first, source->last, (int64_t)source->bytes}, i};
  }
  if (order) numbers = arrange(order, 0, state->source_count, state->sources, sizeof *state->sources);
  if (!numbers) state->is_good = 0;
  for (uint32_t i = 1; numbers && i <= state->process_count; i++)
    state->processes[i].source = numbers[state->processes[i].source];
  free(order);
  free(numbers);
}

static void sort_processes(summary_state *state) {
  sort_entry *order = entries(state, state->process_count);
  uint32_t *numbers = NULL;
  for (uint32_t i = 1; order && i <= state->process_count; i++) {
    const state_process *process = &state->processes[i];
    order[i - 1] = (sort_entry){{process->source, (int64_t)process->pid, 0, 0}, i};
  }
  if (order) numbers = arrange(order, 1, state->process_count, state->processes, sizeof *state->processes);
  if (!numbers) state->is_good = 0;
  for (uint32_t i = 0; numbers && i < state->thread_count; i++)
    state->threads[i].process = numbers[state->threads[i].process];
  for (uint32_t i = 1; numbers && i <= state->group_numbers.count; i++) {
    numbered *key = &state->group_numbers.keys[i];
    if (state->question.by == BY_PROCESS || state->question.by == BY_THREAD) key->a = numbers[key->a];
  }
  free(order);
  free(numbers);
}

static void sort_threads(summary_state *state) {
  sort_entry *order = entries(state, state->thread_count);
  for (uint32_t i = 0; order && i < state->thread_count; i++) {
    const state_thread *thread = &state->threads[i];
    order[i] = (sort_entry){{thread->process, (int64_t)thread->tid, 0, 0}, i};
  }
  if (order) free(arrange(order, 0, state->thread_count, state->threads, sizeof *state->threads));
  free(order);
}

static void sort_problems(summary_state *state) {
  sort_entry *order = entries(state, state->problem_count);
  for (uint32_t i = 0; order && i < state->problem_count; i++) {
    const state_problem *problem = &state->problems[i];
    order[i] = (sort_entry){{(int64_t)problem->has_source << 32 | problem->path, (int64_t)problem->byte,
                             (int64_t)problem->line, (int64_t)problem->kind << 32 | problem->error},
                            i};
  }
  if (order) free(arrange(order, 0, state->problem_count, state->problems, sizeof *state->problems));
  free(order);
}

/* ---- Entries by key ------------------------------------------------------------------------------------------------- */

/* Gives the entries the numbers of their order. A list of the same numbers may move along. */
static void sort_keyed(summary_state *state, numbering *numbers, void *list, size_t entry_bytes, void *second,
                       size_t second_bytes) {
  sort_entry *order = entries(state, numbers->count);
  numbering sorted = {.limit = numbers->limit};
  uint32_t *moved = NULL;
  int is_new, is_good = order != NULL;
  for (uint32_t i = 1; is_good && i <= numbers->count; i++)
    order[i - 1] = (sort_entry){{(int64_t)numbers->keys[i].a, (int64_t)numbers->keys[i].b, 0, 0}, i};
  if (is_good) moved = arrange(order, 1, numbers->count, list, entry_bytes);
  is_good = moved != NULL;
  free(moved);
  if (is_good && second) {
    moved = arrange(order, 1, numbers->count, second, second_bytes);
    is_good = moved != NULL;
    free(moved);
  }
  for (uint32_t i = 0; is_good && i < numbers->count; i++)
    is_good = numbering_of(&sorted, (uint64_t)order[i].keys[0], (uint64_t)order[i].keys[1], &is_new) != 0;
  if (is_good) {
    numbering_free(numbers);
    *numbers = sorted;
  } else {
    numbering_free(&sorted);
    state->is_good = 0;
  }
  free(order);
}

void state_sort(summary_state *state) {
  if (!state->is_good) return;
  sort_texts(state);
  sort_sources(state);
  sort_processes(state);
  sort_threads(state);
  sort_problems(state);
  sort_keyed(state, &state->host_numbers, state->hosts, sizeof *state->hosts, NULL, 0);
  sort_keyed(state, &state->command_numbers, state->commands, sizeof *state->commands, NULL, 0);
  sort_keyed(state, &state->file_numbers, state->files, sizeof *state->files, (void *)state->file_io,
             sizeof(io_stats *));
  sort_keyed(state, &state->group_numbers, state->groups, sizeof *state->groups, NULL, 0);
  sort_keyed(state, &state->call_numbers, state->calls, sizeof *state->calls, NULL, 0);
  sort_keyed(state, &state->failure_numbers, state->failures, sizeof *state->failures, NULL, 0);
  sort_keyed(state, &state->epoch_numbers, state->epochs, sizeof *state->epochs, NULL, 0);
}
