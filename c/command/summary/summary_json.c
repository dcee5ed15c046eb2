/* summary_json.c - the summary for programs: JSON and CSV. Times are whole nanoseconds.
 * SPDX-License-Identifier: MIT */
#include "summary_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command/summary/answer/answer.h"
#include "command/symbol/demangle.h"
#include "command/trace/csvcell.h"
#include "command/trace/jsontext.h"
#include "command/trace/typedcommand.h"
#include "summary_io_json.h"
#include "summary_job_json.h"

/* ---- Processes ------------------------------------------------------------------------------------------------------ */

/* The process of a group; 0: groups are not of processes. */
static uint32_t process_of(const summary_state *state, uint32_t group) {
  const uint32_t by = state->question.by;
  return by == BY_PROCESS || by == BY_THREAD ? (uint32_t)state->group_numbers.keys[group].a : 0;
}

static void csv_text(FILE *out, dft_text text) {
  char *cell = malloc(CSV_CELL_ROOM(text.len));
  if (cell) fwrite(cell, 1, csv_cell(cell, text), out);
  free(cell);
}

static void csv_process(FILE *out, const summary_state *state, uint32_t process) {
  const int64_t rank = state->processes[process].rank;
  const size_t len = process_command(state, process).len;
  char *typed = typed_command(process_command(state, process));
  fputc(',', out);
  if (rank != NO_NUMBER) fprintf(out, "%" PRId64, rank);
  fputc(',', out);
  if (typed) csv_text(out, (dft_text){typed, len});
  free(typed);
}

static void csv_label(FILE *out, const summary_state *state, dft_text text) {
  const int is_number = state->question.by == BY_STEP || state->question.by == BY_RANK;
  if (is_number) fwrite(text.text, 1, text.len, out); /* it may be below zero */
  else csv_text(out, text);
}

/* ---- Events --------------------------------------------------------------------------------------------------------- */

static uint64_t percentile(const summary_answer *answer, const group_stats *stats, double share) {
  return histogram_percentile(&stats->durations, share, answer->grain_ns);
}

/* What the terminal shows, if it is not the name itself. */
static void json_plain_name(FILE *out, const summary_state *state, dft_text name) {
  char *plain = state->question.by == BY_NAME ? demangle(name, 0) : NULL;
  if (!plain) return;
  fprintf(out, ", \"demangled\": ");
  json_text(out, plain, strlen(plain));
  free(plain);
}

/* A rank is a number, or null. */
static void json_label(FILE *out, const summary_state *state, dft_text text) {
  if (state->question.by != BY_RANK) json_text(out, text.text, text.len);
  else fprintf(out, "%s", text.len ? text.text : "null");
}

static void print_groups(FILE *out, const summary_answer *answer) {
  const char *one, *two;
  uint32_t count;
  answer_group *groups = answer_groups(answer->state, &count);
  answer_titles(answer->state->question.by, &one, &two);
  fprintf(out, "  \"by\": \"%s\",\n  \"groups\": [", one);
  for (uint32_t i = 0; groups && i < count; i++) {
    const group_stats *stats = groups[i].stats;
    answer_label first, second;
    answer_group_labels(answer->state, groups[i].number, &first, &second);
    fprintf(out, "%s\n    {\"%s\": ", i ? "," : "", one);
    json_label(out, answer->state, first.text);
    if (two) {
      fprintf(out, ", \"%s\": ", two);
      json_text(out, second.text.text, second.text.len);
    }
    json_plain_name(out, answer->state, first.text);
    if (process_of(answer->state, groups[i].number))
      summary_json_process(out, answer->state, process_of(answer->state, groups[i].number));
    fprintf(out,
            ", \"count\": %" PRIu64 ", \"total_ns\": %" PRIu64 ", \"self_ns\": %" PRIu64 ", \"mean_ns\": %" PRIu64
            ", \"median_ns\": %" PRIu64 ", \"p95_ns\": %" PRIu64 ", \"min_ns\": %" PRIu64 ", \"max_ns\": %" PRIu64 "}",
            stats->durations.count, stats->total_ns, stats->self_ns, stats->total_ns / stats->durations.count,
            percentile(answer, stats, 0.5), percentile(answer, stats, 0.95), stats->durations.least,
            stats->durations.most);
  }
  fprintf(out, "%s],\n", count ? "\n  " : "");
  free(groups);
}

void summary_csv(FILE *out, const summary_answer *answer) {
  const int is_process = answer->state->question.by == BY_PROCESS || answer->state->question.by == BY_THREAD;
  const char *one, *two;
  uint32_t count;
  answer_group *groups = answer_groups(answer->state, &count);
  answer_titles(answer->state->question.by, &one, &two);
  fprintf(out, "%s%s%s%s,count,total_ns,self_ns,mean_ns,median_ns,p95_ns,min_ns,max_ns\n", one, two ? "," : "",
          two ? two : "", is_process ? ",rank,command" : "");
  for (uint32_t i = 0; groups && i < count; i++) {
    const group_stats *stats = groups[i].stats;
    answer_label first, second;
    answer_group_labels(answer->state, groups[i].number, &first, &second);
    csv_label(out, answer->state, first.text);
    if (two) {
      fputc(',', out);
      csv_label(out, answer->state, second.text);
    }
    if (is_process) csv_process(out, answer->state, process_of(answer->state, groups[i].number));
    fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
            stats->durations.count, stats->total_ns, stats->self_ns, stats->total_ns / stats->durations.count,
            percentile(answer, stats, 0.5), percentile(answer, stats, 0.95), stats->durations.least,
            stats->durations.most);
  }
  free(groups);
}

/* ---- The rest ------------------------------------------------------------------------------------------------------- */

static void print_number(FILE *out, const char *key, uint64_t number, const char *before) {
  fprintf(out, "%s\"%s\": %" PRIu64, before, key, number);
}

static void print_training(FILE *out, const summary_answer *answer) {
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
    {"fetches", training->count[AI_FETCH]},
    {"computes", training->count[AI_COMPUTE]},
    {"startup_ns", training->startup_ns},
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
  fprintf(out, ",\n    \"by_epoch\": [");
  for (uint32_t i = 1; i <= state->epoch_numbers.count; i++) {
    const epoch_stats *epoch = &state->epochs[i];
    const int64_t number = (int64_t)state->epoch_numbers.keys[i].a;
    fprintf(out, "%s\n      {\"epoch\": ", i > 1 ? "," : "");
    if (number == NO_NUMBER) fprintf(out, "null");
    else fprintf(out, "%" PRId64, number);
    fprintf(out,
            ", \"fetches\": %" PRIu64 ", \"computes\": %" PRIu64 ", \"fetch_ns\": %" PRIu64 ", \"compute_ns\": %" PRIu64
            ", \"start_ns\": %" PRId64 ", \"end_ns\": %" PRId64 "}",
            epoch->fetches, epoch->computes, epoch->fetch_ns, epoch->compute_ns, epoch->first, epoch->last);
  }
  fprintf(out, "]},\n");
}

static void print_problems(FILE *out, const summary_answer *answer) {
  const summary_state *state = answer->state;
  fprintf(out,
          "  \"lost\": {\"dropped\": %" PRIu64 ", \"recovered_traces\": %" PRIu64 ", \"unfinished_traces\": %" PRIu64
          ", \"unrecovered_traces\": %" PRIu64 ", \"running_processes\": %" PRIu64 "},\n",
          state->dropped, state->recovered, answer->facts.unfinished, state->left, state->running);
  fprintf(out, "  \"problem_count\": %" PRIu64 ",\n  \"problems\": [", state->all_problems);
  for (uint32_t i = 0; i < state->problem_count; i++) {
    const state_problem *problem = &state->problems[i];
    dft_text path = state_text_of(state, problem->path);
    const char *message = dft_problem_text(problem->kind);
    fprintf(out, "%s\n    {\"file\": ", i ? "," : "");
    json_text(out, path.text, path.len);
    fprintf(out, ", \"byte\": %" PRIu64 ", \"line\": %" PRIu64 ", \"problem\": ", problem->byte, problem->line);
    json_text(out, message, strlen(message));
    fprintf(out, "}");
  }
  fprintf(out, "],\n");
}

void summary_json(FILE *out, const summary_answer *answer) {
  fprintf(
    out,
    "{\n  \"version\": \"%s\",\n  \"traces\": %u,\n  \"events\": %" PRIu64 ",\n  \"counters\": %" PRIu64
    ",\n  \"metadata\": %" PRIu64 ",\n  \"other_records\": %" PRIu64 ",\n  \"processes\": %u,\n  \"threads\": %u,\n"
    "  \"hosts\": %u,\n",
    dft_version(), answer->state->source_count, answer->state->events, answer->state->counters, answer->state->metadata,
    answer->state->others, answer->processes, answer->threads, answer->state->host_numbers.count);
  fprintf(out,
          "  \"job\": {\"start_ns\": %" PRId64 ", \"end_ns\": %" PRId64 ", \"time_ns\": %" PRId64
          ", \"thread_ns\": %" PRIu64 ", \"region_ns\": %" PRIu64 ", \"process_ns\": %" PRIu64 ", \"io_ns\": %" PRIu64
          ", \"outside_ns\": %" PRIu64 "},\n",
          answer->state->first, answer->state->last, (int64_t)answer->job_ns, answer->thread_ns, answer->region_ns,
          answer->process_ns, answer->io_ns, answer->outside_ns);
  summary_json_job(out, answer);
  print_groups(out, answer);
  summary_json_io(out, answer);
  print_training(out, answer);
  summary_json_communication(out, answer);
  summary_json_regions(out, answer);
  print_problems(out, answer);
  fprintf(out, "  \"accuracy\": {\"percentile_error\": %.7g}\n}\n", 1.0 / 128);
}
