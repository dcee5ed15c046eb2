/* stateparts.c - states of traces that may be of different runs.
 * SPDX-License-Identifier: MIT */
#include "stateparts.h"

#include <stdlib.h>
#include <string.h>

#include "state_merge.h"
#include "state_sort.h"

void state_parts_init(state_parts *parts) {
  *parts = (state_parts){.is_good = 1};
}

void state_parts_free(state_parts *parts) {
  for (uint32_t i = 0; i < parts->count; i++) state_free(&parts->states[i]);
  free(parts->states);
  *parts = (state_parts){0};
}

summary_state *state_parts_add(state_parts *parts) {
  if (parts->count == parts->capacity) {
    uint32_t capacity = parts->capacity ? parts->capacity * 2 : 4;
    summary_state *states = realloc(parts->states, capacity * sizeof *states);
    if (!states) {
      parts->is_good = 0;
      return NULL;
    }
    parts->states = states;
    parts->capacity = capacity;
  }
  state_init(&parts->states[parts->count]);
  return &parts->states[parts->count++];
}

/* ---- Merging -------------------------------------------------------------------------------------------------------- */

static int are_one(const summary_state *one, const summary_state *two) {
  if (one->run || two->run)
    return one->run && two->run && strcmp(state_text_of(one, one->run).text, state_text_of(two, two->run).text) == 0;
  if (!state_has_life(one) || !state_has_life(two)) return !state_has_life(one) && !state_has_life(two);
  return one->life_first <= two->life_last && two->life_first <= one->life_last;
}

/* Adds a state, and merges what it connects. */
static const char *add_part(state_parts *parts, summary_state *state) {
  summary_state *found = NULL;
  const char *refusal = NULL;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < parts->count; i++) {
    summary_state *part = &parts->states[i];
    const int is_one = !refusal && are_one(part, state);
    if (is_one) refusal = state_merge_refusal(part, found ? found : state);
    if (is_one && !refusal) {
      if (found) state_merge(found, part);
      else found = part; /* it stays where it is: what is merged into it comes later */
      if (found != part) continue;
    }
    if (kept != i) parts->states[kept] = *part;
    if (found == part) found = &parts->states[kept];
    kept++;
  }
  parts->count = kept;
  if (refusal) return refusal;
  if (found) {
    state_merge(found, state);
    parts->is_good &= found->is_good;
  } else if ((found = state_parts_add(parts)) != NULL) {
    state_free(found);
    *found = *state;
    *state = (summary_state){0};
  }
  return NULL;
}

const char *state_parts_merge(state_parts *into, state_parts *from) {
  for (uint32_t i = 0; i < from->count; i++) {
    const char *refusal = into->count ? state_question_refusal(&into->states[0], &from->states[i]) : NULL;
    if (!refusal) refusal = add_part(into, &from->states[i]);
    if (refusal) return refusal;
  }
  into->is_good &= from->is_good;
  state_parts_free(from);
  return NULL;
}

/* ---- Order ---------------------------------------------------------------------------------------------------------- */

/* The lists of names that a state has. */
typedef struct name_list {
  numbering *numbers;
  state_name *names;
  uint32_t (*add)(summary_state *, uint32_t, uint32_t);
} name_list;

#define NAME_LISTS 3
static name_list list_of(summary_state *state, int number) {
  const name_list lists[NAME_LISTS] = {{&state->host_numbers, state->hosts, state_host},
                                       {&state->command_numbers, state->commands, state_command},
                                       {&state->file_numbers, state->files, state_file}};
  return lists[number];
}

static uint32_t copy_text(summary_state *into, const summary_state *from, uint32_t text) {
  return state_text(into, state_text_of(from, text));
}

static void collect_names(summary_state *names, summary_state *state, int number) {
  const name_list list = list_of(state, number);
  for (uint32_t i = 1; i <= list.numbers->count; i++) {
    if (list.names[i].name)
      list.add(names, copy_text(names, state, list.names[i].hash), copy_text(names, state, list.names[i].name));
  }
}

static void complete_names(summary_state *names, summary_state *state, int number) {
  const name_list list = list_of(state, number);
  for (uint32_t i = 1; i <= list.numbers->count; i++) {
    const name_list known = list_of(names, number);
    uint32_t found;
    if (list.names[i].name) continue;
    found = numbering_find(known.numbers, copy_text(names, state, list.names[i].hash), 0);
    if (found) list.names[i].name = copy_text(state, names, known.names[found].name);
  }
}

/* A reader of all traces knows the names of all. */
static void share_names(state_parts *parts) {
  summary_state names;
  if (parts->count < 2) return;
  state_init(&names);
  for (int list = 0; list < NAME_LISTS; list++) {
    for (uint32_t i = 0; i < parts->count; i++) collect_names(&names, &parts->states[i], list);
    for (uint32_t i = 0; i < parts->count; i++) complete_names(&names, &parts->states[i], list);
  }
  parts->is_good &= names.is_good;
  state_free(&names);
}

static int by_run(const void *a, const void *b) {
  const summary_state *one = a, *two = b;
  int order = strcmp(state_text_of(one, one->run).text, state_text_of(two, two->run).text);
  return order ? order : (one->life_first > two->life_first) - (one->life_first < two->life_first);
}

void state_parts_settle(state_parts *parts) {
  share_names(parts);
  for (uint32_t i = 0; i < parts->count; i++) {
    state_sort(&parts->states[i]);
    parts->is_good &= parts->states[i].is_good;
  }
  if (parts->is_good && parts->count) qsort(parts->states, parts->count, sizeof *parts->states, by_run);
}
