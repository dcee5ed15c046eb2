/* summary_io_json.c - the summary for programs: the I/O.
 * SPDX-License-Identifier: MIT */
#include "summary_io_json.h"

#include <inttypes.h>
#include <stdlib.h>

#include "command/summary/answer/filegroups.h"
#include "command/summary/answer/runtimefiles.h"
#include "command/trace/jsontext.h"
#include "processjson.h"
#include "summary_job_json.h"

/* One direction of transfers. */
static void print_side(FILE *out, const io_side *side, const char *what) {
  const struct {
    const char *before, *after;
    uint64_t number;
  } numbers[] = {
    {"", "s", side->count},
    {"", "_bytes", side->bytes},
    {"", "_ns", side->ns},
    {"random_", "s", side->random},
    {"random_", "_ns", side->random_ns},
    {"small_", "s", side->small},
    {"small_", "_bytes", side->small_bytes},
    {"small_", "_ns", side->small_ns},
    {"placed_", "s", side->placed},
    {"unaligned_", "s", side->unaligned},
    {"unaligned_", "_ns", side->unaligned_ns},
    {"again_", "_bytes", side->again_bytes},
    {"stdio_", "_bytes", side->stdio_bytes},
    {"stdio_", "_ns", side->stdio_ns},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    fprintf(out, "\"%s%s%s\": %" PRIu64 ", ", numbers[i].before, what, numbers[i].after, numbers[i].number);
}

static void print_io(FILE *out, const io_stats *stats) {
  const struct {
    const char *key;
    uint64_t number;
  } numbers[] = {
    {"calls", io_stats_calls(stats)},
    {"metadata", stats->others},
    {"metadata_ns", stats->other_ns},
    {"mapped_bytes", stats->mapped_bytes},
    {"sequential", stats->sequential},
    {"random", io_stats_random(stats)},
    {"opens", stats->opens},
    {"open_ns", stats->open_ns},
    {"closes", stats->closes},
    {"close_ns", stats->close_ns},
    {"syncs", stats->syncs},
    {"sync_ns", stats->sync_ns},
    {"failed", stats->failed},
    {"failed_ns", stats->failed_ns},
    {"unknown", io_stats_unknown(stats)},
    {"uses", stats->uses},
    {"write_uses", stats->write_uses},
    {"size_median", histogram_percentile(&stats->sizes, 0.5, 1)},
    {"size_p95", histogram_percentile(&stats->sizes, 0.95, 1)},
    {"size_max", stats->sizes.most},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    fprintf(out, "\"%s\": %" PRIu64 ", ", numbers[i].key, numbers[i].number);
  print_side(out, &stats->read, "read");
  print_side(out, &stats->write, "write");
  fprintf(out, "\"start_ns\": %" PRId64 ", \"end_ns\": %" PRId64 "}", stats->first, stats->last);
}

/* What calls of this name do. */
static const char *kind_of(dft_text name, dft_text cat) {
  event_class class = {0};
  event_classify(&class, NULL, name, cat);
  switch (class.io) {
    case IO_NONE: return "process";
    case IO_READ: return "read";
    case IO_WRITE: return "write";
    case IO_COPY: return "copy";
    default: return "metadata";
  }
}

static void print_calls(FILE *out, const summary_state *state) {
  for (uint32_t i = 1; i <= state->call_numbers.count; i++) {
    const call_stats *calls = &state->calls[i];
    const dft_text name = state_text_of(state, (uint32_t)state->call_numbers.keys[i].a);
    const dft_text cat = state_text_of(state, (uint32_t)state->call_numbers.keys[i].b);
    fprintf(out, "%s\n      {\"name\": ", i > 1 ? "," : "");
    json_text(out, name.text, name.len);
    fprintf(out, ", \"cat\": ");
    json_text(out, cat.text, cat.len);
    fprintf(out,
            ", \"kind\": \"%s\", \"count\": %" PRIu64 ", \"time_ns\": %" PRIu64 ", \"failed\": %" PRIu64
            ", \"failed_ns\": %" PRIu64 "}",
            kind_of(name, cat), calls->count, calls->ns, calls->failed, calls->failed_ns);
  }
}

static void print_folders(FILE *out, const summary_answer *answer) {
  static const char *const costs[] = {
    [IO_COST_METADATA] = "metadata", [IO_COST_READ] = "read", [IO_COST_WRITE] = "write", [IO_COST_SYNC] = "sync"};
  for (int i = 0; i < IO_COSTS; i++) {
    const io_folder *folder = &answer->folders[i];
    fprintf(out, "%s\n      \"%s\": {\"folder\": ", i ? "," : "", costs[i]);
    if (folder->path.len) json_text(out, folder->path.text, folder->path.len);
    else fprintf(out, "null");
    fprintf(out,
            ", \"all_ns\": %" PRIu64 ", \"time_ns\": %" PRIu64 ", \"files\": %" PRIu64 ", \"calls\": %" PRIu64
            ", \"read_bytes\": %" PRIu64 ", \"write_bytes\": %" PRIu64 "}",
            folder->all_ns, folder->cost_ns, folder->files, folder->calls, folder->read_bytes, folder->write_bytes);
  }
}

static void print_failures(FILE *out, const summary_state *state) {
  uint32_t count;
  answer_failure *list = answer_failures(state, &count);
  for (uint32_t i = 0; list && i < count; i++) {
    dft_text name = state_text_of(state, list[i].name), file = answer_file_of(state, list[i].file);
    fprintf(out, "%s\n      {\"name\": ", i ? "," : "");
    json_text(out, name.text, name.len);
    fprintf(out, ", \"file\": ");
    json_text(out, file.text, file.len);
    fprintf(out, ", \"errno\": %" PRIu64 ", \"count\": %" PRIu64 "}", list[i].error, list[i].count);
  }
  free(list);
}

static void print_file_groups(FILE *out, const summary_state *state) {
  file_groups groups;
  const int is_good = file_groups_make(&groups, state, FILES_GROUPED);
  fprintf(out, "],\n    \"file_groups\": [");
  for (uint32_t i = 0; is_good && i < groups.count; i++) {
    const file_group *group = &groups.list[i];
    fprintf(out, "%s\n      {\"group\": ", i ? "," : "");
    json_text(out, group->label.text, group->label.len);
    fprintf(out, ", \"files\": %" PRIu64 ", ", group->files);
    print_io(out, &group->io);
  }
  file_groups_free(&groups);
}

void summary_json_io(FILE *out, const summary_answer *answer) {
  uint32_t count;
  answer_io *list = answer_files(answer->state, &count);
  fprintf(out, "  \"io\": {\n    \"all\": {");
  print_io(out, &answer->io);
  fprintf(out, ",\n    \"job\": {\"read_ns\": %" PRIu64 ", \"write_ns\": %" PRIu64 "}", answer->reading_ns,
          answer->writing_ns);
  fprintf(out, ",\n    \"files\": [");
  for (uint32_t i = 0; list && i < count; i++) {
    dft_text file = answer_file(answer->state, list[i].number);
    fprintf(out, "%s\n      {\"file\": ", i ? "," : "");
    json_text(out, file.text, file.len);
    fprintf(out, is_runtime_file(file) ? ", \"is_mpi_runtime\": true, " : ", ");
    print_io(out, list[i].stats);
  }
  free(list);
  print_file_groups(out, answer->state);
  list = answer_processes(answer->state, &count);
  fprintf(out, "],\n    \"processes\": [");
  for (uint32_t i = 0; list && i < count; i++) {
    answer_label label;
    answer_process_label(answer->state, list[i].number, &label);
    fprintf(out, "%s\n      {\"process\": ", i ? "," : "");
    json_text(out, label.text.text, label.text.len);
    json_process(out, answer->state, list[i].number);
    fprintf(out, ", ");
    print_io(out, list[i].stats);
  }
  free(list);
  fprintf(out, "],\n    \"folders\": {");
  print_folders(out, answer);
  fprintf(out, "},\n    \"calls\": [");
  print_calls(out, answer->state);
  fprintf(out, "],\n    \"failures\": [");
  print_failures(out, answer->state);
  fprintf(out, "]},\n");
}
