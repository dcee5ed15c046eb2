/* state_merge.c - adds one state to another.
 * SPDX-License-Identifier: MIT */
#include "state_merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- May they be merged? -------------------------------------------------------------------------------------------- */

static int are_equal_patterns(const summary_state *one, const uint32_t *first, uint32_t first_count,
                              const summary_state *two, const uint32_t *second, uint32_t second_count) {
  if (first_count != second_count) return 0;
  for (uint32_t i = 0; i < first_count; i++) {
    if (strcmp(state_text_of(one, first[i]).text, state_text_of(two, second[i]).text) != 0) return 0;
  }
  return 1;
}

const char *state_question_refusal(const summary_state *one, const summary_state *two) {
  const state_question *a = &one->question, *b = &two->question;
  if (a->by != b->by) return "--by is not the same";
  if (a->has_from != b->has_from || a->from_ns != b->from_ns) return "--from is not the same";
  if (a->has_to != b->has_to || a->to_ns != b->to_ns) return "--to is not the same";
  if (!are_equal_patterns(one, a->names, a->name_count, two, b->names, b->name_count)) return "--name is not the same";
  if (!are_equal_patterns(one, a->cats, a->cat_count, two, b->cats, b->cat_count)) return "--cat is not the same";
  if (!are_equal_patterns(one, a->classes, a->class_count, two, b->classes, b->class_count))
    return "--classes is not the same";
  return NULL;
}

static const char *file_name(const summary_state *state, const state_source *source) {
  const char *path = state_text_of(state, source->path).text, *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Whether it is the same trace, perhaps by another path. */
static int is_same(const summary_state *one, const state_source *a, const summary_state *two, const state_source *b) {
  return a->events && a->events == b->events && a->bytes == b->bytes && a->first == b->first && a->last == b->last &&
         strcmp(file_name(one, a), file_name(two, b)) == 0;
}

const char *state_merge_refusal(const summary_state *one, const summary_state *two) {
  static char text[512];
  const char *refusal = NULL;
  numbering known = {.limit = UINT32_MAX - 1}; /* traces of `one`; those that look alike are chained */
  uint32_t *next = calloc((size_t)one->source_count + 1, sizeof *next), *last;
  if (one->question.origin != two->question.origin) refusal = "--from and --to count from another start";
  last = calloc((size_t)one->source_count + 1, sizeof *last);
  for (uint32_t i = 0; next && last && i < one->source_count; i++) {
    int is_new;
    uint32_t number = numbering_of(&known, (uint64_t)one->sources[i].first, one->sources[i].events, &is_new);
    next[i] = last[number];
    last[number] = i + 1;
  }
  for (uint32_t i = 0; !refusal && next && last && i < two->source_count; i++) {
    const state_source *source = &two->sources[i];
    uint32_t at = last[numbering_find(&known, (uint64_t)source->first, source->events)];
    while (at && !is_same(one, &one->sources[at - 1], two, source)) at = next[at - 1];
    if (!at) continue;
    snprintf(text, sizeof text, "%s was counted already", state_text_of(two, source->path).text);
    refusal = text;
  }
  numbering_free(&known);
  free(next);
  free(last);
  return refusal;
}

/* ---- Merging -------------------------------------------------------------------------------------------------------- */

/* Numbers in `from`, and what they are in `into`. */
typedef struct state_map {
  uint32_t *texts;
  uint32_t first_source, first_process; /* what is added to numbers of sources and processes */
} state_map;

static void merge_lists(summary_state *into, summary_state *from, const state_map *map) {
  for (uint32_t i = 0; i < from->source_count; i++) {
    state_source *source = state_add_source(into);
    if (!source) return;
    *source = from->sources[i];
    source->path = map->texts[source->path];
  }
  for (uint32_t i = 0; i < from->problem_count; i++) {
    state_problem *problem = state_add_problem(into);
    if (!problem) return;
    *problem = from->problems[i];
    problem->path = map->texts[problem->path];
  }
  for (uint32_t i = 1; i <= from->process_count; i++) {
    state_process *process = state_add_process(into);
    if (!process) return;
    *process = from->processes[i];
    from->processes[i].counts = (process_counts){0}; /* moved */
    process->source += map->first_source;
    state_process_rename(process, map->texts);
  }
  for (uint32_t i = 0; i < from->thread_count; i++) {
    state_thread *thread = state_add_thread(into);
    if (!thread) return;
    *thread = from->threads[i];
    thread->process += map->first_process;
  }
}

static void merge_files(summary_state *into, summary_state *from, const state_map *map) {
  for (uint32_t i = 1; i <= from->host_numbers.count; i++)
    state_host(into, map->texts[from->hosts[i].hash], map->texts[from->hosts[i].name]);
  for (uint32_t i = 1; i <= from->command_numbers.count; i++)
    state_command(into, map->texts[from->commands[i].hash], map->texts[from->commands[i].name]);
  for (uint32_t i = 1; i <= from->file_numbers.count; i++) {
    uint32_t number = state_file(into, map->texts[from->files[i].hash], map->texts[from->files[i].name]);
    if (!number) return;
    into->is_good &= io_stats_take(&into->file_io[number], from->file_io[i]);
    from->file_io[i] = NULL;
  }
}

static numbered translate(const state_map *map, uint32_t by, numbered key) {
  switch (by) {
    case BY_NAME: return (numbered){map->texts[key.a], map->texts[key.b]};
    case BY_FILE: return (numbered){map->texts[key.a], 0};
    case BY_PROCESS:
    case BY_THREAD: return (numbered){key.a + map->first_process, key.b};
    default: return key;
  }
}

static void merge_groups(summary_state *into, summary_state *from, const state_map *map) {
  for (uint32_t i = 1; i <= from->group_numbers.count; i++) {
    numbered key = translate(map, from->question.by, from->group_numbers.keys[i]);
    group_stats *sum = state_group(into, key.a, key.b);
    if (!sum) return;
    into->is_good &= group_stats_merge(sum, &from->groups[i]);
  }
  for (uint32_t i = 1; i <= from->call_numbers.count; i++) {
    const numbered key = from->call_numbers.keys[i];
    call_stats *sum = state_call(into, map->texts[key.a], map->texts[key.b]);
    if (!sum) return;
    call_stats_merge(sum, &from->calls[i]);
  }
  for (uint32_t i = 1; i <= from->failure_numbers.count; i++) {
    const numbered key = from->failure_numbers.keys[i];
    uint64_t *sum = state_failure(into, map->texts[key.a >> 32], map->texts[key.a & UINT32_MAX], key.b);
    if (!sum) return;
    *sum += from->failures[i];
  }
  for (uint32_t i = 1; i <= from->epoch_numbers.count; i++) {
    epoch_stats *sum = state_epoch(into, (int64_t)from->epoch_numbers.keys[i].a);
    if (!sum) return;
    epoch_stats_merge(sum, &from->epochs[i]);
  }
}

void state_merge(summary_state *into, summary_state *from) {
  state_map map = {calloc((size_t)from->texts.count + 1, sizeof *map.texts), into->source_count, into->process_count};
  into->is_good &= from->is_good && map.texts;
  for (uint32_t i = 0; into->is_good && i < from->texts.count; i++)
    map.texts[i] = state_text(into, state_text_of(from, i));
  if (into->is_good) merge_lists(into, from, &map);
  if (into->is_good) merge_files(into, from, &map);
  if (into->is_good) merge_groups(into, from, &map);
  if (into->is_good)
    into->is_good = spanset_move(&into->reads, &from->reads) && spanset_move(&into->writes, &from->writes);
  into->all_problems += from->all_problems;
  into->events += from->events;
  into->counters += from->counters;
  into->metadata += from->metadata;
  into->others += from->others;
  into->lost_fetches += from->lost_fetches;
  into->has_fractions |= from->has_fractions;
  into->dropped += from->dropped;
  into->recovered += from->recovered;
  into->left += from->left;
  into->running += from->running;
  if (from->first < into->first) into->first = from->first;
  if (from->last > into->last) into->last = from->last;
  if (from->life_first < into->life_first) into->life_first = from->life_first;
  if (from->life_last > into->life_last) into->life_last = from->life_last;
  free(map.texts);
  state_free(from);
}
