/* summary_job_json.c - the summary for programs: the job as a whole.
 * SPDX-License-Identifier: MIT */
#include "summary_job_json.h"

#include <inttypes.h>
#include <string.h>

#include "command/trace/jsontext.h"

static void print_text(FILE *out, const char *text) {
  if (*text) json_text(out, text, strlen(text));
  else fprintf(out, "null");
}

static void print_runs(FILE *out, const run_list *runs) {
  if (runs->shown == RUN_ALL) fprintf(out, "  \"run\": \"all\",\n  \"runs\": [");
  else fprintf(out, "  \"run\": %u,\n  \"runs\": [", runs->shown);
  for (uint32_t i = 0; i < runs->count; i++) {
    const run_facts *run = &runs->runs[i];
    fprintf(out, "%s\n    {\"run\": %u, \"id\": ", i ? "," : "", i + 1);
    print_text(out, run->id);
    fprintf(out, ", \"start_ns\": %" PRId64 ", \"end_ns\": %" PRId64 ", \"processes\": %u, \"events\": %" PRIu64,
            run->first, run->last, run->processes, run->events);
    fprintf(out, ", \"command\": ");
    print_text(out, run->command);
    fprintf(out, "}");
  }
  fprintf(out, "],\n");
}

static void print_sites(FILE *out, const char *key, const site_list *list) {
  fprintf(out, "\"%s\": {\"count\": %" PRIu64 ", \"processes\": %" PRIu64 ", \"sites\": [", key, list->events,
          list->processes);
  for (uint32_t i = 0; i < list->count; i++) {
    fprintf(out, "%s{\"site\": ", i ? ", " : "");
    json_text(out, list->sites[i].site, strlen(list->sites[i].site));
    fprintf(out, ", \"processes\": %" PRIu64 "}", list->sites[i].processes);
  }
  fprintf(out, "]}");
}

void summary_json_job(FILE *out, const summary_answer *answer) {
  const job_facts *facts = &answer->facts;
  print_runs(out, answer->runs);
  fprintf(out, "  \"world_size\": ");
  if (facts->world_size) fprintf(out, "%" PRIu64, facts->world_size);
  else fprintf(out, "null");
  fprintf(out, ",\n  \"missing_ranks\": [");
  for (uint32_t i = 0; i < facts->gap_count; i++)
    fprintf(out, "%s{\"first\": %" PRIu64 ", \"last\": %" PRIu64 "}", i ? ", " : "", facts->gaps[i].first,
            facts->gaps[i].last);
  fprintf(out,
          "],\n  \"tracing\": {\"processes\": %" PRIu64 ", \"finish_ns\": %" PRIu64 ", \"finish_most_ns\": %" PRIu64
          ", \"drain_cpu_ns\": %" PRIu64 ", \"assist_ns\": %" PRIu64 "},\n  \"regions\": {",
          facts->costed, facts->finish_ns, facts->finish_most_ns, facts->drain_cpu_ns, facts->assist_ns);
  print_sites(out, "unmatched_ends", &facts->unmatched);
  fprintf(out, ", ");
  print_sites(out, "never_ended", &facts->open);
  fprintf(out, "},\n  \"workers_without_trainer\": %" PRIu64 ",\n", facts->orphans);
}

static void print_member(FILE *out, const char *key, const summary_state *state, const region_member *member) {
  fprintf(out, ", \"%s_ns\": %" PRIu64 ", \"%s_rank\": ", key, member->total_ns, key);
  if (member->rank != NO_NUMBER) fprintf(out, "%" PRId64 ", \"%s_process\": null", member->rank, key);
  else {
    answer_label label;
    answer_process_label(state, member->process, &label);
    fprintf(out, "null, \"%s_process\": ", key);
    json_text(out, label.text.text, label.text.len);
  }
}

void summary_json_regions(FILE *out, const summary_answer *answer) {
  const summary_state *state = answer->state;
  fprintf(out, "  \"regions_by_rank\": [");
  for (uint32_t i = 0; i < answer->rank_regions.count; i++) {
    const rank_region *region = &answer->rank_regions.regions[i];
    const dft_text name = state_text_of(state, region->name), cat = state_text_of(state, region->cat);
    fprintf(out, "%s\n    {\"name\": ", i ? "," : "");
    json_text(out, name.text, name.len);
    fprintf(out, ", \"cat\": ");
    json_text(out, cat.text, cat.len);
    fprintf(out, ", \"ranks\": %u, \"entered\": %u, \"count\": %" PRIu64 ", \"total_ns\": %" PRIu64, region->ranks,
            region->entered, region->count, region->total_ns);
    print_member(out, "min", state, &region->min);
    print_member(out, "max", state, &region->max);
    fprintf(out,
            ", \"mean_ns\": %" PRIu64 ", \"deviation_ns\": %" PRIu64 ", \"imbalance\": %.4f, \"lost_ns\": %" PRIu64 "}",
            region->mean_ns, region->deviation_ns, rank_region_imbalance(region), region->lost_ns);
  }
  fprintf(out, "],\n");
}
