/* summarystate.c - everything the summary knows of a set of traces.
 * SPDX-License-Identifier: MIT */
#include "summarystate.h"

#include <stdlib.h>
#include <string.h>

void state_init(summary_state *state) {
  *state = (summary_state){
    .first = INT64_MAX, .last = INT64_MIN, .life_first = INT64_MAX, .life_last = INT64_MIN, .is_good = 1};
  state->host_numbers.limit = state->command_numbers.limit = state->file_numbers.limit = UINT32_MAX - 1;
  state->group_numbers.limit = state->failure_numbers.limit = state->epoch_numbers.limit = UINT32_MAX - 1;
  state->call_numbers.limit = UINT32_MAX - 1;
  state_text(state, (dft_text){"", 0});
}

void state_free(summary_state *state) {
  for (uint32_t i = 1; i <= state->process_count; i++) process_counts_clear(&state->processes[i].counts);
  for (uint32_t i = 1; i <= state->group_numbers.count && i < state->group_capacity; i++)
    histogram_free(&state->groups[i].durations);
  for (uint32_t i = 1; i <= state->file_numbers.count && i < state->file_io_capacity; i++)
    io_stats_free(state->file_io[i]);
  free(state->sources);
  free(state->problems);
  free(state->processes);
  free(state->threads);
  free(state->hosts);
  free(state->commands);
  free(state->files);
  free((void *)state->file_io);
  free(state->groups);
  free(state->calls);
  free(state->failures);
  spanset_free(&state->reads);
  spanset_free(&state->writes);
  free(state->epochs);
  free(state->question.names);
  free(state->question.cats);
  free(state->question.classes);
  numbering_free(&state->host_numbers);
  numbering_free(&state->command_numbers);
  numbering_free(&state->file_numbers);
  numbering_free(&state->group_numbers);
  numbering_free(&state->call_numbers);
  numbering_free(&state->failure_numbers);
  numbering_free(&state->epoch_numbers);
  text_pool_free(&state->texts);
  *state = (summary_state){0};
}

uint32_t state_text(summary_state *state, dft_text text) {
  uint32_t number = text_pool_add(&state->texts, text.text, text.len);
  if (number != UINT32_MAX) return number;
  state->is_good = 0;
  return 0;
}

/* ---- Lists ---------------------------------------------------------------------------------------------------------- */

/* Gives the list room for the entry with this number; new room is zero. */
static int reserve(summary_state *state, void **list, uint32_t *capacity, uint32_t number, size_t entry_bytes) {
  uint32_t wanted = *capacity ? *capacity : 4;
  char *more;
  if (number < *capacity) return 1;
  while (wanted <= number) wanted *= 2;
  more = realloc(*list, wanted * entry_bytes);
  if (!more) {
    state->is_good = 0;
    return 0;
  }
  memset(more + *capacity * entry_bytes, 0, (wanted - *capacity) * entry_bytes);
  *list = more;
  *capacity = wanted;
  return 1;
}
#define RESERVE(state, list, capacity, number) \
  reserve(state, (void **)&(state)->list, &(state)->capacity, number, sizeof *(state)->list)

state_source *state_add_source(summary_state *state) {
  if (!RESERVE(state, sources, source_capacity, state->source_count)) return NULL;
  return &state->sources[state->source_count++];
}

state_problem *state_add_problem(summary_state *state) {
  if (!RESERVE(state, problems, problem_capacity, state->problem_count)) return NULL;
  return &state->problems[state->problem_count++];
}

state_process *state_add_process(summary_state *state) {
  if (!RESERVE(state, processes, process_capacity, state->process_count + 1)) return NULL;
  return &state->processes[++state->process_count];
}

static void rename_region(phase_region *region, const uint32_t *numbers) {
  *region = (phase_region){numbers[region->name], numbers[region->cat], region->ns};
}

void state_process_rename(state_process *process, const uint32_t *numbers) {
  uint32_t *const texts[] = {PROCESS_FACTS_TEXTS(&process->facts)};
  process_counts *counts = &process->counts;
  process->host = numbers[process->host];
  process->command = numbers[process->command];
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) *texts[i] = numbers[*texts[i]];
  for (uint32_t i = 0; i < counts->regions.count; i++) {
    region_total *region = &counts->regions.list[i];
    region->name = numbers[region->name];
    region->cat = numbers[region->cat];
  }
  rename_region(&counts->start_region, numbers);
  rename_region(&counts->end_region, numbers);
  comm_counts_rename(&counts->comm, numbers);
  pursuits_rename(&counts->pursuits, numbers);
}

state_thread *state_add_thread(summary_state *state) {
  if (!RESERVE(state, threads, thread_capacity, state->thread_count)) return NULL;
  return &state->threads[state->thread_count++];
}

/* ---- Entries by key ------------------------------------------------------------------------------------------------- */

static uint32_t number_of(summary_state *state, numbering *numbers, uint64_t a, uint64_t b, int *is_new) {
  uint32_t number = numbering_of(numbers, a, b, is_new);
  if (!number) state->is_good = 0;
  return number;
}

static void set_name(const summary_state *state, state_name *entry, uint32_t hash, uint32_t name) {
  entry->hash = hash;
  if (!name || entry->name == name) return;
  if (!entry->name || strcmp(state_text_of(state, name).text, state_text_of(state, entry->name).text) < 0)
    entry->name = name;
}

uint32_t state_host(summary_state *state, uint32_t hash, uint32_t name) {
  int is_new;
  uint32_t number = number_of(state, &state->host_numbers, hash, 0, &is_new);
  if (!number || !RESERVE(state, hosts, host_capacity, number)) return 0;
  set_name(state, &state->hosts[number], hash, name);
  return number;
}

uint32_t state_command(summary_state *state, uint32_t hash, uint32_t name) {
  int is_new;
  uint32_t number = number_of(state, &state->command_numbers, hash, 0, &is_new);
  if (!number || !RESERVE(state, commands, command_capacity, number)) return 0;
  set_name(state, &state->commands[number], hash, name);
  return number;
}

uint32_t state_file(summary_state *state, uint32_t hash, uint32_t name) {
  int is_new;
  uint32_t number = number_of(state, &state->file_numbers, hash, 0, &is_new);
  if (!number || !RESERVE(state, files, file_capacity, number) ||
      !reserve(state, (void **)&state->file_io, &state->file_io_capacity, number, sizeof(io_stats *)))
    return 0;
  set_name(state, &state->files[number], hash, name);
  return number;
}

group_stats *state_group(summary_state *state, uint64_t a, uint64_t b) {
  int is_new;
  uint32_t number = number_of(state, &state->group_numbers, a, b, &is_new);
  if (!number || !RESERVE(state, groups, group_capacity, number)) return NULL;
  return &state->groups[number];
}

call_stats *state_call(summary_state *state, uint32_t name, uint32_t cat) {
  int is_new;
  uint32_t number = number_of(state, &state->call_numbers, name, cat, &is_new);
  if (!number || !RESERVE(state, calls, call_capacity, number)) return NULL;
  return &state->calls[number];
}

uint64_t *state_failure(summary_state *state, uint32_t name, uint32_t file, uint64_t error) {
  int is_new;
  uint32_t number = number_of(state, &state->failure_numbers, (uint64_t)name << 32 | file, error, &is_new);
  if (!number || !RESERVE(state, failures, failure_capacity, number)) return NULL;
  return &state->failures[number];
}

epoch_stats *state_epoch(summary_state *state, int64_t epoch) {
  int is_new;
  uint32_t number = number_of(state, &state->epoch_numbers, (uint64_t)epoch, 0, &is_new);
  if (!number || !RESERVE(state, epochs, epoch_capacity, number)) return NULL;
  if (is_new) state->epochs[number] = (epoch_stats){.first = INT64_MAX, .last = INT64_MIN};
  return &state->epochs[number];
}

void state_drop_silent_epochs(summary_state *state) {
  numbering before = state->epoch_numbers;
  state->epoch_numbers = (numbering){.limit = before.limit};
  for (uint32_t i = 1; state->epochs && i <= before.count; i++) {
    const epoch_stats epoch = state->epochs[i]; /* another one may take its place */
    epoch_stats *kept = epoch.first <= epoch.last ? state_epoch(state, (int64_t)before.keys[i].a) : NULL;
    if (kept) *kept = epoch;
  }
  numbering_free(&before);
}
