/* summary_training_json.c - the summary of a training, and the split of the time, for programs.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "command/summary/tally/iograins.h"
#include "processjson.h"
#include "summary_training.h"

static void print_number(FILE *out, const char *key, uint64_t number, const char *before) {
  fprintf(out, "%s\"%s\": %" PRIu64, before, key, number);
}

static void print_optional(FILE *out, const char *key, int64_t number) {
  if (number == NO_NUMBER) fprintf(out, "\"%s\": null", key);
  else fprintf(out, "\"%s\": %" PRId64, key, number);
}

/* `, "compute": ..., "input": ...`: nanoseconds of each class. */
static void print_classes(FILE *out, const uint64_t class_ns[TIME_CLASSES]) {
  fprintf(out, ", \"class_ns\": {");
  for (int i = 0; i < TIME_CLASSES; i++)
    print_number(out, time_class_word((enum time_class)i), class_ns[i], i ? ", " : "");
  fprintf(out, "}");
}

static void json_epochs(FILE *out, const summary_state *state) {
  fprintf(out, ",\n    \"by_epoch\": [");
  for (uint32_t i = 1; i <= state->epoch_numbers.count; i++) {
    const epoch_stats *epoch = &state->epochs[i];
    fprintf(out, "%s\n      {", i > 1 ? "," : "");
    print_optional(out, "epoch", (int64_t)state->epoch_numbers.keys[i].a);
    fprintf(out,
            ", \"fetches\": %" PRIu64 ", \"computes\": %" PRIu64 ", \"fetch_ns\": %" PRIu64 ", \"compute_ns\": %" PRIu64
            ", \"start_ns\": %" PRId64 ", \"end_ns\": %" PRId64 ", \"steps\": %" PRIu64 ", ",
            epoch->fetches, epoch->computes, epoch->fetch_ns, epoch->compute_ns, epoch->first, epoch->last,
            epoch->steps);
    print_number(out, "batches", epoch->batches, "");
    fprintf(out, ", ");
    print_optional(out, "samples",
                   epoch->sampled && epoch->sampled == epoch->batches ? (int64_t)epoch->samples : NO_NUMBER);
    print_classes(out, epoch->class_ns);
    print_number(out, "evaluation_ns", epoch->evaluation_ns, ", ");
    fprintf(out, "}");
  }
  fprintf(out, "]");
}

static uint64_t percentile(const summary_answer *answer, double share) {
  return histogram_percentile(&answer->trainers.durations, share, answer->grain_ns);
}

static void json_steps(FILE *out, const summary_answer *answer) {
  const trainer_list *list = &answer->trainers;
  fprintf(out, ",\n    \"step_times\": {");
  print_number(out, "count", list->durations.count, "");
  print_number(out, "median_ns", percentile(answer, 0.5), ", ");
  print_number(out, "p95_ns", percentile(answer, 0.95), ", ");
  print_number(out, "p99_ns", percentile(answer, 0.99), ", ");
  print_number(out, "max_ns", list->durations.most, ", ");
  print_classes(out, list->class_ns);
  fprintf(out, ", \"slowest\": [");
  for (uint32_t i = 0; i < list->slow_count; i++) {
    const slow_line *line = &list->slowest[i];
    fprintf(out, "%s\n      {", i ? "," : "");
    json_whole_process(out, answer->state, line->process);
    fprintf(out, ", ");
    print_optional(out, "epoch", line->step->epoch);
    fprintf(out, ", ");
    print_optional(out, "step", line->step->step);
    print_number(out, "index", line->step->index, ", ");
    fprintf(out, ", \"start_ns\": %" PRId64, line->step->start);
    print_number(out, "time_ns", line->step->ns, ", ");
    print_classes(out, line->step->class_ns);
    fprintf(out, ", \"reason\": \"%s\"}", time_class_word(line->reason));
  }
  fprintf(out, "]}");
}

static void json_workers(FILE *out, const trainer_workers *workers) {
  print_number(out, "workers", workers->count, ", ");
  print_number(out, "workers_at_once", workers->at_once, ", ");
  print_number(out, "workers_empty", workers->empty, ", ");
  print_number(out, "workers_ns", workers->life_ns, ", ");
  print_number(out, "workers_busy_ns", workers->busy_ns, ", ");
  fprintf(out, ", ");
  print_optional(out, "workers_enough", workers->enough ? (int64_t)workers->enough : NO_NUMBER);
}

static void json_trainers(FILE *out, const summary_answer *answer) {
  const trainer_list *list = &answer->trainers;
  fprintf(out, ",\n    \"trainers\": [");
  for (uint32_t i = 0; i < list->count; i++) {
    const trainer_line *line = &list->lines[i];
    fprintf(out, "%s\n      {", i ? "," : "");
    json_whole_process(out, answer->state, line->process);
    print_number(out, "loop_ns", line->loop_ns, ", ");
    print_number(out, "evaluation_ns", line->evaluation_ns, ", ");
    print_classes(out, line->class_ns);
    json_workers(out, &line->workers);
    fprintf(out, "}");
  }
  fprintf(out, "]");
}

static void json_train(FILE *out, const training_totals *training) {
  fprintf(out, ", \"train\": {");
  print_number(out, "time_ns", training->train.ns, "");
  print_number(out, "compute_ns", training->train.compute_ns, ", ");
  if (training->is_fetch_known) {
    print_number(out, "fetch_ns", training->train.fetch_ns, ", ");
    print_number(out, "wait_ns", training->train.wait_ns, ", ");
  } else {
    fprintf(out, ", \"fetch_ns\": null, \"wait_ns\": null");
  }
  print_number(out, "data_ns", training->train.data_ns, ", ");
  fprintf(out, "}");
}

void summary_json_training(FILE *out, const summary_answer *answer) {
  const training_totals *training = &answer->training;
  const summary_state *state = answer->state;
  const struct {
    const char *key;
    uint64_t number;
  } numbers[] = {
    {"processes", training->processes},
    {"epochs", training->epochs},
    {"steps", training->steps},
    {"steps_least", training->steps_least},
    {"batches", training->batches},
    {"fetches", training->count[AI_FETCH]},
    {"computes", training->count[AI_COMPUTE]},
    {"startup_ns", training->startup_ns},
    {"before_ns", training->before_ns},
    {"loop_ns", training->loop_ns},
    {"teardown_ns", training->teardown_ns},
    {"compute_ns", training->compute_ns},
    {"fetch_ns", training->fetch_ns},
    {"data_ns", training->data_ns},
    {"data_in_loop_ns", training->data_in_loop_ns},
    {"wait_ns", training->wait_ns},
    {"hidden_ns", training->hidden_ns},
    {"comm_ns", training->ns[AI_COMM]},
    {"device_ns", training->ns[AI_DEVICE]},
    {"checkpoint_ns", training->ns[AI_CHECKPOINT]},
  };
  if (!training_exists(training)) {
    fprintf(out, "  \"training\": null,\n");
    return;
  }
  fprintf(out, "  \"training\": {");
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    const int is_of_fetch = strcmp(numbers[i].key, "fetch_ns") == 0 || strcmp(numbers[i].key, "wait_ns") == 0;
    if (is_of_fetch && !training->is_fetch_known) fprintf(out, ", \"%s\": null", numbers[i].key);
    else print_number(out, numbers[i].key, numbers[i].number, i ? ", " : "");
  }
  fprintf(out, ", \"is_sequence\": %s", training->is_sequence ? "true" : "false");
  json_train(out, training);
  json_epochs(out, state);
  json_steps(out, answer);
  json_trainers(out, answer);
  fprintf(out, "},\n");
}

/* The time in which any thread was in an I/O call of a kind. */
static void print_calls(FILE *out, process_counts *counts) {
  static const char *const words[GRAIN_KINDS] = {"read", "write", "metadata"};
  fprintf(out, ", \"calls_ns\": {");
  for (int kind = 0; kind < GRAIN_KINDS; kind++)
    print_number(out, words[kind], io_grains_busy(&counts->grains[kind]), kind ? ", " : "");
  fprintf(out, "}");
}

void summary_json_split(FILE *out, const summary_answer *answer) {
  const summary_state *state = answer->state;
  const char *before = "";
  fprintf(out, "  \"split\": [");
  for (uint32_t i = 1; i <= state->process_count; i++) {
    if (!state->processes[i].threads) continue; /* nothing of it is in the time that was asked for */
    fprintf(out, "%s\n    {", before);
    before = ",";
    json_whole_process(out, state, i);
    for (int phase = 0; phase < PHASES; phase++) {
      fprintf(out, ", \"%s\": {", time_phase_word((enum time_phase)phase));
      for (int class = 0; class < TIME_CLASSES; class ++)
        print_number(out, time_class_word((enum time_class) class), state->processes[i].counts.split_ns[phase][class],
                     class ? ", " : "");
      fprintf(out, "}");
    }
    print_calls(out, &answer->state->processes[i].counts);
    fprintf(out, "}");
  }
  fprintf(out, "],\n");
}
