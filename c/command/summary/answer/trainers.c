/* trainers.c - how each trainer spent its time, its workers, and the steps of all trainers.
 * SPDX-License-Identifier: MIT */
#include "trainers.h"

#include <stdlib.h>
#include <string.h>

static uint64_t sum_of(const uint64_t class_ns[TIME_CLASSES]) {
  uint64_t sum = 0;
  for (int i = 0; i < TIME_CLASSES; i++) sum += class_ns[i];
  return sum;
}

/* ---- Trainers ------------------------------------------------------------------------------------------------------- */

static trainer_line line_of(const state_process *process, uint32_t number) {
  const process_counts *counts = &process->counts;
  trainer_line line = {.process = number};
  memcpy(line.class_ns, counts->split_ns[PHASE_LOOP], sizeof line.class_ns);
  line.loop_ns = sum_of(counts->split_ns[PHASE_LOOP]);
  line.evaluation_ns = sum_of(counts->split_ns[PHASE_EVALUATION]);
  return line;
}

static int by_waiting(const void *a, const void *b) {
  const trainer_line *one = a, *two = b;
  const double first = one->loop_ns ? (double)one->class_ns[TIME_INPUT] / (double)one->loop_ns : 0;
  const double second = two->loop_ns ? (double)two->class_ns[TIME_INPUT] / (double)two->loop_ns : 0;
  if (first < second || first > second) return first > second ? -1 : 1;
  return (one->process > two->process) - (one->process < two->process);
}

static int add_lines(trainer_list *list, summary_state *state, const worker_lists *workers) {
  int is_good = 1;
  for (uint32_t i = 1; is_good && i <= state->process_count; i++) {
    trainer_line *line = &list->lines[list->count];
    if (!process_is_trainer(&state->processes[i].counts)) continue;
    *line = line_of(&state->processes[i], i);
    list->count++;
    is_good = trainer_workers_measure(&line->workers, state, workers, i, line->class_ns[TIME_INPUT]);
  }
  return is_good;
}

/* ---- Steps ---------------------------------------------------------------------------------------------------------- */

static enum time_class reason_of(const step_times *steps, const slow_step *step) {
  enum time_class reason = TIME_OUTSIDE;
  int64_t most = INT64_MIN;
  for (int i = 0; i < TIME_CLASSES; i++) {
    const int64_t beyond = (int64_t)(step->class_ns[i] - steps->class_ns[i] / steps->durations.count);
    if (!step->class_ns[i] || beyond <= most) continue;
    most = beyond;
    reason = (enum time_class)i;
  }
  return reason;
}

static int is_slower(const slow_line *one, const slow_line *two) {
  if (one->step->ns != two->step->ns) return one->step->ns > two->step->ns;
  return one->step->start != two->step->start ? one->step->start < two->step->start
         : one->process != two->process       ? one->process < two->process
                                              : one->step->index < two->step->index;
}

static void add_slow(trainer_list *list, slow_line line) {
  uint32_t at = list->slow_count;
  while (at && is_slower(&line, &list->slowest[at - 1])) at--;
  if (at == SLOW_STEPS) return;
  if (list->slow_count < SLOW_STEPS) list->slow_count++;
  memmove(&list->slowest[at + 1], &list->slowest[at], (list->slow_count - at - 1) * sizeof line);
  list->slowest[at] = line;
}

static int add_steps(trainer_list *list, const summary_state *state) {
  for (uint32_t i = 1; i <= state->process_count; i++) {
    const step_times *steps = state->processes[i].counts.steps;
    if (!steps || !steps->durations.count) continue;
    if (!histogram_merge(&list->durations, &steps->durations)) return 0;
    for (int class = 0; class < TIME_CLASSES; class ++) list->class_ns[class] += steps->class_ns[class];
    for (uint32_t j = 0; j < steps->slow_count; j++)
      add_slow(list, (slow_line){i, &steps->slowest[j], reason_of(steps, &steps->slowest[j])});
  }
  return 1;
}

int trainer_list_init(trainer_list *list, summary_state *state) {
  worker_lists workers;
  int is_good = worker_lists_init(&workers, state);
  *list = (trainer_list){.lines = calloc((size_t)state->process_count + 1, sizeof *list->lines)};
  is_good = is_good && list->lines && add_lines(list, state, &workers) && add_steps(list, state);
  if (is_good && list->count) qsort(list->lines, list->count, sizeof *list->lines, by_waiting);
  worker_lists_free(&workers);
  return is_good;
}

void trainer_list_free(trainer_list *list) {
  free(list->lines);
  histogram_free(&list->durations);
  *list = (trainer_list){0};
}
