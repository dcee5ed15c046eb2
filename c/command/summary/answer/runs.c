/* runs.c - which runs the traces are of.
 * SPDX-License-Identifier: MIT */
#include "runs.h"

#include <stdlib.h>
#include <string.h>

#include "command/summary/state/state_merge.h"
#include "command/trace/typedcommand.h"
#include "livingcount.h"
#include "processlabel.h"

#define PAUSE_NS INT64_C(1000000000)

/* ---- Which part is of which run -------------------------------------------------------------------------------------- */

/* A run while it is put together. */
typedef struct run_span {
  uint32_t number; /* before runs are sorted */
  int64_t first, last;
} run_span;

typedef struct run_finder {
  const state_parts *parts;
  uint32_t *run_of_part;
  run_span *runs;
  uint32_t count;
  uint32_t current; /* the last run without ids; 0: none */
  numbering ranks;  /* of that run */
  int is_good;
} run_finder;

static void add_to(run_finder *finder, uint32_t part, uint32_t run) {
  const summary_state *state = &finder->parts->states[part];
  run_span *span;
  if (run > finder->count) finder->runs[finder->count++] = (run_span){run, INT64_MAX, INT64_MIN};
  span = &finder->runs[run - 1];
  if (state->life_first < span->first) span->first = state->life_first;
  if (state->life_last > span->last) span->last = state->life_last;
  finder->run_of_part[part] = run;
}

/* The only run with an id that the part overlaps; 0: there is none, or several. */
static uint32_t run_around(const run_finder *finder, const summary_state *state, uint32_t with_id) {
  uint32_t found = 0;
  for (uint32_t i = 1; i <= with_id; i++) {
    const run_span *run = &finder->runs[i - 1];
    if (state->life_first > run->last || run->first > state->life_last) continue;
    if (found) return 0;
    found = i;
  }
  return found;
}

static int has_rank_of(const run_finder *finder, const summary_state *state) {
  for (uint32_t i = 1; i <= state->process_count; i++) {
    int64_t rank = state->processes[i].rank;
    if (rank != NO_NUMBER && numbering_find(&finder->ranks, (uint64_t)rank, 0)) return 1;
  }
  return 0;
}

static void add_ranks(run_finder *finder, const summary_state *state) {
  for (uint32_t i = 1; i <= state->process_count; i++) {
    int64_t rank = state->processes[i].rank;
    int is_new;
    if (rank != NO_NUMBER) finder->is_good &= numbering_of(&finder->ranks, (uint64_t)rank, 0, &is_new) != 0;
  }
}

static void add_without_id(run_finder *finder, uint32_t part, uint32_t with_id) {
  const summary_state *state = &finder->parts->states[part];
  uint32_t run = run_around(finder, state, with_id);
  if (run) {
    add_to(finder, part, run);
    return;
  }
  if (!finder->current || state->life_first - finder->runs[finder->current - 1].last >= PAUSE_NS ||
      has_rank_of(finder, state)) {
    numbering_free(&finder->ranks);
    finder->ranks.limit = UINT32_MAX - 1;
    finder->current = finder->count + 1;
  }
  add_ranks(finder, state);
  add_to(finder, part, finder->current);
}

/* Parts are settled: those without an id come in the order of time. */
static void find_runs(run_finder *finder) {
  const state_parts *parts = finder->parts;
  uint32_t with_id;
  for (uint32_t i = 0; i < parts->count; i++) {
    if (parts->states[i].run) add_to(finder, i, finder->count + 1);
  }
  with_id = finder->count;
  for (uint32_t i = 0; i < parts->count; i++) {
    if (!parts->states[i].run && state_has_life(&parts->states[i])) add_without_id(finder, i, with_id);
  }
  numbering_free(&finder->ranks);
}

static int by_time(const void *a, const void *b) {
  const run_span *one = a, *two = b;
  if (one->first != two->first) return one->first < two->first ? -1 : 1;
  return (one->number > two->number) - (one->number < two->number);
}

/* Numbers the runs in the order of time. */
static int sort_runs(run_finder *finder) {
  uint32_t *numbers = calloc((size_t)finder->count + 1, sizeof *numbers);
  if (!numbers) return 0;
  qsort(finder->runs, finder->count, sizeof *finder->runs, by_time);
  for (uint32_t i = 0; i < finder->count; i++) numbers[finder->runs[i].number] = i + 1;
  for (uint32_t i = 0; i < finder->parts->count; i++) finder->run_of_part[i] = numbers[finder->run_of_part[i]];
  free(numbers);
  return 1;
}

/* ---- Facts ----------------------------------------------------------------------------------------------------------- */

static int set_text(char **text, const char *value) {
  free(*text);
  *text = strdup(value);
  return *text != NULL;
}

static int set_command(run_facts *run, const summary_state *state, uint32_t process) {
  free(run->command);
  run->command = typed_command(process_command(state, process));
  return run->command != NULL;
}

/* Whether the process is the first one of the run so far. */
static int starts_before(const run_facts *run, const summary_state *state, const state_process *process) {
  const int64_t begin = state->sources[process->source].begin;
  return begin < run->origin || (begin == run->origin && process->pid < run->first_pid);
}

static int add_facts(run_facts *run, const summary_state *state) {
  uint32_t first = 0; /* of this part, if it is also the first one of the run */
  if (!run->command && !(set_text(&run->command, "") && set_text(&run->id, ""))) return 0;
  if (state->run && !set_text(&run->id, state_text_of(state, state->run).text)) return 0;
  if (!living_count(state, &run->processes, &run->threads)) return 0;
  for (uint32_t i = 1; i <= state->process_count; i++) {
    const state_process *process = &state->processes[i];
    if (!starts_before(run, state, process)) continue;
    run->origin = state->sources[process->source].begin;
    run->first_pid = process->pid;
    first = i;
  }
  run->events += state->events;
  return !first || set_command(run, state, first);
}

int run_list_init(run_list *list, const state_parts *parts) {
  run_finder finder = {.parts = parts, .is_good = 1};
  *list = (run_list){.run_of_part = calloc((size_t)parts->count + 1, sizeof *list->run_of_part)};
  finder.run_of_part = list->run_of_part;
  finder.runs = calloc((size_t)parts->count + 1, sizeof *finder.runs);
  finder.is_good = finder.run_of_part && finder.runs;
  if (finder.is_good) find_runs(&finder);
  if (finder.is_good) finder.is_good = sort_runs(&finder);
  if (finder.is_good) list->runs = calloc((size_t)finder.count + 1, sizeof *list->runs);
  list->count = list->runs ? finder.count : 0;
  for (uint32_t i = 0; i < list->count; i++)
    list->runs[i] = (run_facts){.first = finder.runs[i].first, .last = finder.runs[i].last, .origin = INT64_MAX};
  finder.is_good = finder.is_good && list->runs;
  for (uint32_t i = 0; finder.is_good && i < parts->count; i++) {
    if (list->run_of_part[i]) finder.is_good = add_facts(&list->runs[list->run_of_part[i] - 1], &parts->states[i]);
  }
  free(finder.runs);
  return finder.is_good;
}

void run_list_free(run_list *list) {
  for (uint32_t i = 0; i < list->count; i++) {
    free(list->runs[i].id);
    free(list->runs[i].command);
  }
  free(list->runs);
  free(list->run_of_part);
  *list = (run_list){0};
}

/* ---- Showing --------------------------------------------------------------------------------------------------------- */

const char *run_list_show(run_list *list, state_parts *parts, uint32_t run, summary_state *state) {
  const char *refusal = NULL;
  summary_state *first = NULL;
  list->shown = run == RUN_NEWEST ? list->count : run;
  for (uint32_t i = 0; !refusal && i < parts->count; i++) {
    summary_state *part = &parts->states[i];
    const uint32_t own = list->run_of_part[i];
    if (list->shown != RUN_ALL && own && own != list->shown) continue;
    if (first && own && state_has_life(first) && list->shown != RUN_ALL &&
        first->question.origin != part->question.origin)
      refusal = "--from and --to count from another start";
    if (!first) first = part;
    else if (!refusal) {
      if (!state_has_life(first)) first->question.origin = part->question.origin;
      state_merge(first, part);
    }
  }
  state_free(state);
  if (first) {
    *state = *first;
    *first = (summary_state){0};
  } else {
    state_init(state);
  }
  state_parts_free(parts);
  return refusal;
}
