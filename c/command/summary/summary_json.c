/* summary_json.c - the summary for programs: JSON and CSV. Times are whole nanoseconds.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command/trace/jsontext.h"
#include "summary.h"

/* ---- Texts ---------------------------------------------------------------------------------------------------------- */

static void csv_text(FILE *out, const char *text) {
  if (!strpbrk(text, ",\"\r\n")) {
    fputs(text, out);
    return;
  }
  fputc('"', out);
  for (; *text; text++) fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
  fputc('"', out);
}

/* ---- Events --------------------------------------------------------------------------------------------------------- */

#define PERCENT(of, stats, share) histogram_percentile(&(stats)->durations, share, (of)->grain)

static void print_groups(FILE *out, job *of) {
  const char *one, *two;
  uint32_t count;
  answer_group *groups = answer_groups(of, &count);
  answer_titles(of->question->by, &one, &two);
  fprintf(out, "  \"by\": \"%s\",\n  \"groups\": [", one);
  for (uint32_t i = 0; groups && i < count; i++) {
    const group_stats *stats = groups[i].stats;
    char first[LABEL_BYTES], second[LABEL_BYTES];
    answer_label(of, groups[i].number, first, second);
    fprintf(out, "%s\n    {\"%s\": ", i ? "," : "", one);
    json_text(out, first, strlen(first));
    if (two) {
      fprintf(out, ", \"%s\": ", two);
      json_text(out, second, strlen(second));
    }
    fprintf(out,
            ", \"count\": %" PRIu64 ", \"total_ns\": %" PRIu64 ", \"self_ns\": %" PRIu64 ", \"mean_ns\": %" PRIu64
            ", \"median_ns\": %" PRIu64 ", \"p95_ns\": %" PRIu64 ", \"min_ns\": %" PRIu64 ", \"max_ns\": %" PRIu64 "}",
            stats->durations.count, stats->total_ns, stats->self_ns, stats->total_ns / stats->durations.count,
            PERCENT(of, stats, 0.5), PERCENT(of, stats, 0.95), stats->durations.least, stats->durations.most);
  }
  fprintf(out, "%s],\n", count ? "\n  " : "");
  free(groups);
}

void summary_csv(FILE *out, job *of) {
  const char *one, *two;
  uint32_t count;
  answer_group *groups = answer_groups(of, &count);
  answer_titles(of->question->by, &one, &two);
  fprintf(out, "%s%s%s,count,total_ns,self_ns,mean_ns,median_ns,p95_ns,min_ns,max_ns\n", one, two ? "," : "",
          two ? two : "");
  for (uint32_t i = 0; groups && i < count; i++) {
    const group_stats *stats = groups[i].stats;
    char first[LABEL_BYTES], second[LABEL_BYTES];
    answer_label(of, groups[i].number, first, second);
    csv_text(out, first);
    if (two) {
      fputc(',', out);
      csv_text(out, second);
    }
    fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
            stats->durations.count, stats->total_ns, stats->self_ns, stats->total_ns / stats->durations.count,
            PERCENT(of, stats, 0.5), PERCENT(of, stats, 0.95), stats->durations.least, stats->durations.most);
  }
  free(groups);
}

/* ---- I/O ------------------------------------------------------------------------------------------------------------ */

static void print_io(FILE *out, const io_stats *of) {
  fprintf(out,
          "\"calls\": %" PRIu64 ", \"reads\": %" PRIu64 ", \"writes\": %" PRIu64 ", \"metadata\": %" PRIu64
          ", \"read_bytes\": %" PRIu64 ", \"write_bytes\": %" PRIu64 ", \"read_ns\": %" PRIu64
          ", \"write_ns\": %" PRIu64 ", \"metadata_ns\": %" PRIu64 ", \"sequential\": %" PRIu64 ", \"random\": %" PRIu64
          ", \"failed\": %" PRIu64 ", \"size_median\": %" PRIu64 ", \"size_p95\": %" PRIu64 ", \"size_max\": %" PRIu64
          "}",
          of->reads + of->writes + of->others, of->reads, of->writes, of->others, of->read_bytes, of->write_bytes,
          of->read_ns, of->write_ns, of->other_ns, of->sequential, of->random, of->failed,
          histogram_percentile(&of->sizes, 0.5, 1), histogram_percentile(&of->sizes, 0.95, 1), of->sizes.most);
}

static void print_all_io(FILE *out, job *of) {
  uint32_t count;
  io_stats all = answer_all_io(of);
  answer_io *list = answer_files(of, &count);
  fprintf(out, "  \"io\": {\n    \"all\": {");
  print_io(out, &all);
  histogram_free(&all.sizes);
  fprintf(out, ",\n    \"files\": [");
  for (uint32_t i = 0; list && i < count; i++) {
    dft_text file = answer_file(of, list[i].number);
    fprintf(out, "%s\n      {\"file\": ", i ? "," : "");
    json_text(out, file.text, file.len);
    fprintf(out, ", ");
    print_io(out, list[i].stats);
  }
  free(list);
  list = answer_processes(of, &count);
  fprintf(out, "],\n    \"processes\": [");
  for (uint32_t i = 0; list && i < count; i++) {
    char label[LABEL_BYTES];
    answer_process_label(of, list[i].number, label);
    fprintf(out, "%s\n      {\"process\": ", i ? "," : "");
    json_text(out, label, strlen(label));
    fprintf(out, ", ");
    print_io(out, list[i].stats);
  }
  free(list);
  fprintf(out, "]},\n");
}

/* ---- The rest ------------------------------------------------------------------------------------------------------- */

static void print_training(FILE *out, job *of) {
  answer_training all;
  answer_epoch *epochs;
  uint32_t count;
  if (!answer_train(of, &all)) {
    fprintf(out, "  \"training\": null,\n");
    return;
  }
  fprintf(
    out,
    "  \"training\": {\"processes\": %" PRIu64 ", \"epochs\": %" PRIu64 ", \"steps\": %" PRIu64
    ", \"fetches\": %" PRIu64 ", \"computes\": %" PRIu64 ",\n    \"compute_ns\": %" PRIu64 ", \"fetch_ns\": %" PRIu64
    ", \"data_ns\": %" PRIu64 ", \"wait_ns\": %" PRIu64 ", \"hidden_ns\": %" PRIu64 ",\n    \"comm_ns\": %" PRIu64
    ", \"device_ns\": %" PRIu64 ", \"checkpoint_ns\": %" PRIu64 ", \"closed_ns\": %" PRIu64 ",\n    \"by_epoch\": [",
    all.processes, all.epochs, all.steps, all.count[AI_FETCH], all.count[AI_COMPUTE], all.compute_ns, all.fetch_ns,
    all.data_ns, all.wait_ns, all.hidden_ns, all.ns[AI_COMM], all.ns[AI_DEVICE], all.ns[AI_CHECKPOINT], all.closed_ns);
  epochs = answer_epochs(of, &count);
  for (uint32_t i = 0; epochs && i < count; i++) {
    const epoch_stats *epoch = epochs[i].stats;
    fprintf(out,
            "%s\n      {\"epoch\": %" PRId64 ", \"fetches\": %" PRIu64 ", \"computes\": %" PRIu64
            ", \"fetch_ns\": %" PRIu64 ", \"compute_ns\": %" PRIu64 ", \"start_ns\": %" PRId64 ", \"end_ns\": %" PRId64
            "}",
            i ? "," : "", epochs[i].epoch, epoch->fetches, epoch->computes, epoch->fetch_ns, epoch->compute_ns,
            epoch->first, epoch->last);
  }
  free(epochs);
  fprintf(out, "]},\n");
}

static void print_problems(FILE *out, job *of) {
  dft_problem problem = {.struct_size = sizeof problem};
  fprintf(out, "  \"lost\": {\"dropped\": %" PRIu64 ", \"recovered_traces\": %" PRIu64 "},\n", of->all.dropped,
          of->all.recovered);
  fprintf(out, "  \"problem_count\": %" PRIu64 ",\n  \"problems\": [", dft_reader_problem_count(of->reader, 0));
  for (uint32_t i = 0; dft_reader_problem(of->reader, i, &problem) == DFT_OK; i++) {
    dft_source source = {.struct_size = sizeof source};
    const char *path = problem.detail;
    if (problem.source != DFT_ALL && dft_reader_source(of->reader, problem.source, &source) == DFT_OK)
      path = source.path;
    fprintf(out, "%s\n    {\"file\": ", i ? "," : "");
    json_text(out, path, strlen(path));
    fprintf(out, ", \"byte\": %" PRIu64 ", \"line\": %" PRIu64 ", \"problem\": ", problem.byte, problem.line);
    json_text(out, problem.message, strlen(problem.message));
    fprintf(out, "}");
  }
  fprintf(out, "],\n");
}

void summary_json(FILE *out, job *of) {
  fprintf(out,
          "{\n  \"version\": \"%s\",\n  \"traces\": %u,\n  \"events\": %" PRIu64 ",\n  \"counters\": %" PRIu64
          ",\n  \"metadata\": %" PRIu64 ",\n  \"other_records\": %" PRIu64
          ",\n  \"processes\": %u,\n  \"threads\": %u,\n"
          "  \"hosts\": %u,\n",
          dft_version(), dft_reader_source_count(of->reader), of->all.events, of->all.counters, of->all.metadata,
          of->all.others, answer_process_count(of), of->thread_numbers.count,
          dft_reader_text_count(of->reader, DFT_HOSTS) - 1);
  fprintf(out,
          "  \"job\": {\"start_ns\": %" PRId64 ", \"end_ns\": %" PRId64 ", \"time_ns\": %" PRId64
          ", \"thread_ns\": %" PRIu64 ", \"region_ns\": %" PRIu64 ", \"io_ns\": %" PRIu64 ", \"outside_ns\": %" PRIu64
          "},\n",
          of->all.first, of->all.last, of->all.last - of->all.first, of->thread_ns, of->region_ns, of->io_ns,
          of->thread_ns - of->region_ns - of->io_ns);
  print_groups(out, of);
  print_all_io(out, of);
  print_training(out, of);
  print_problems(out, of);
  fprintf(out,
          "  \"accuracy\": {\"percentile_error\": %.7g, \"late_events\": %" PRIu64 ", \"merged_spans\": %" PRIu64
          ", \"overrun_steps\": %" PRIu64 "}\n}\n",
          1.0 / 128, of->late, of->merged, of->overrun);
}
