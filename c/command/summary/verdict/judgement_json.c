/* judgement_json.c - verdict, findings and rules for programs.
 * SPDX-License-Identifier: MIT */
#include "judgement_json.h"

#include <inttypes.h>
#include <string.h>

#include "command/trace/jsontext.h"
#include "costcount.h"

static void text_or_null(FILE *out, const char *text) {
  if (text) json_text(out, text, strlen(text));
  else fprintf(out, "null");
}

static void member(FILE *out, const char *key, const char *text) {
  fprintf(out, ", \"%s\": ", key);
  text_or_null(out, text);
}

/* ---- Verdict -------------------------------------------------------------------------------------------------------- */

/* A guess is the share of the imbalance that is meant; without it, it would be compute. */
static void print_shares(FILE *out, const job_verdict *verdict, const job_costs *costs) {
  fprintf(out, ",\n    \"shares\": {");
  for (int i = 0; i < COSTS; i++) {
    const double of_ns = i == COST_START ? costs->job_ns : costs->base_ns;
    const int is_known = (i != COST_INPUT || costs->is_input_known || !costs->is_training) &&
                         (i != COST_IMBALANCE || costs->is_imbalance_known || costs->ns[i] > 0);
    fprintf(out, "%s\"%s\": ", i ? ", " : "", cost_names[i]);
    if (i == COST_IMBALANCE && verdict->is_guess) fprintf(out, "%.6f", verdict->share);
    else if (i == COST_COMPUTE && verdict->is_guess) fprintf(out, "%.6f", costs->ns[i] / of_ns - verdict->share);
    else if (is_known && of_ns > 0) fprintf(out, "%.6f", costs->ns[i] / of_ns);
    else fprintf(out, "null");
  }
  fprintf(out, "}");
}

/* Of imbalance. */
static void print_waits(FILE *out, const job_costs *costs) {
  static const char *const names[WAITS] = {
    [WAIT_COLLECTIVE] = "collectives", [WAIT_MESSAGE] = "messages", [WAIT_END] = "end"};
  fprintf(out, ",\n    \"waits\": {");
  for (int i = 0; i < WAITS; i++)
    fprintf(out, "%s\"%s\": %.6f", i ? ", " : "", names[i], costs->base_ns > 0 ? costs->waits[i] / costs->base_ns : 0);
  fprintf(out, "}");
}

static void print_cause(FILE *out, const verdict_cause *cause) {
  if (!cause->what) {
    fprintf(out, ",\n    \"cause\": null");
    return;
  }
  fprintf(out, ",\n    \"cause\": {\"class\": ");
  text_or_null(out, cause->what);
  fprintf(out, ", \"share\": %.6f", cause->share);
  member(out, "call", cause->call);
  member(out, "folder", cause->folder);
  if (cause->rank == NO_NUMBER) fprintf(out, ", \"rank\": null");
  else fprintf(out, ", \"rank\": %" PRId64, cause->rank);
  if (cause->files)
    fprintf(out, ", \"files\": %" PRIu64 ", \"bytes_per_file\": %.0f}", cause->files, cause->file_bytes);
  else fprintf(out, ", \"files\": null, \"bytes_per_file\": null}");
}

static void print_evidence(FILE *out, const char *lines) {
  fprintf(out, ",\n    \"evidence\": [");
  for (int i = 0; *lines; i++) {
    const size_t len = strcspn(lines, "\n");
    if (i) fprintf(out, ", ");
    json_text(out, lines, len);
    lines += len + (lines[len] == '\n');
  }
  fprintf(out, "]");
}

static void print_steps(FILE *out, const judgement *made) {
  const measure_value *steps = &made->measures.values[M_steps];
  if (made->costs.is_training && steps->is_known) fprintf(out, ", \"steps\": %.0f", steps->number);
  else fprintf(out, ", \"steps\": null");
}

static void print_tied(FILE *out, const job_verdict *verdict) {
  int count = 0;
  fprintf(out, ",\n    \"tied\": [");
  for (int class = 0; class < BOUND_CLASSES; class ++) {
    if (verdict->is_tied[class]) fprintf(out, "%s\"%s\"", count++ ? ", " : "", verdict_words[class]);
  }
  fprintf(out, "]");
}

static void print_verdict(FILE *out, const judgement *made) {
  const job_verdict *verdict = &made->verdict;
  const job_costs *costs = &made->costs;
  const int is_bound = verdict->class != BOUND_NONE && verdict->class != BOUND_COMPUTE;
  double aside = 0;
  fprintf(out, "{\"class\": \"%s\"", verdict_words[verdict->class]);
  member(out, "kind", verdict->io_kind);
  member(out, "severity", is_bound ? severity_of(verdict->share) : "info");
  fprintf(out, ", \"is_sure\": %s, \"base\": \"%s\", \"ranks\": %u", verdict->is_sure ? "true" : "false",
          costs->lives.is_known                                  ? "processes"
          : !costs->is_training || verdict->class == BOUND_START ? "job"
          : costs->is_inference                                  ? "inference"
                                                                 : "training loop",
          costs->count);
  print_steps(out, made);
  fprintf(out, ",\n    \"share\": %.6f, \"ns\": %" PRIu64 ", \"of_ns\": %" PRIu64, verdict->share,
          (uint64_t)verdict->ns, (uint64_t)verdict->of_ns);
  fprintf(out, ", \"saved_ns_at_most\": %" PRIu64 ", \"best_ns\": %" PRIu64,
          (uint64_t)verdict->of_ns - (uint64_t)verdict->best_ns, (uint64_t)verdict->best_ns);
  if (verdict->worst_rank == NO_NUMBER) fprintf(out, ", \"worst\": null");
  else fprintf(out, ", \"worst\": {\"rank\": %" PRId64 ", \"share\": %.6f}", verdict->worst_rank, verdict->worst_share);
  if (verdict->second_rank == NO_NUMBER) fprintf(out, ", \"second\": null");
  else
    fprintf(out, ", \"second\": {\"rank\": %" PRId64 ", \"share\": %.6f}", verdict->second_rank, verdict->second_share);
  print_shares(out, verdict, costs);
  for (int kind = 0; kind < ASIDES; kind++) aside += costs->aside_ns[kind];
  fprintf(out, ",\n    \"aside_share\": %.6f", costs->base_ns > 0 ? aside / costs->base_ns : 0);
  print_waits(out, costs);
  print_tied(out, verdict);
  print_cause(out, &verdict->cause);
  fprintf(out, ",\n    \"text\": ");
  text_or_null(out, verdict->text);
  print_evidence(out, verdict->evidence);
  member(out, "next", *verdict->next ? verdict->next : NULL);
  fprintf(out, "}");
}

/* ---- Findings ------------------------------------------------------------------------------------------------------- */

static void print_value(FILE *out, const measure_list *measures, enum measure measure) {
  const measure_value *value = &measures->values[measure];
  fprintf(out, "\"%s\": ", measure_kinds[measure].name);
  if (!value->is_known) fprintf(out, "null");
  else if (measure_kinds[measure].unit == UNIT_TEXT) text_or_null(out, value->text);
  else fprintf(out, "%.9g", value->number);
}

static void print_finding(FILE *out, const finding *next, const measure_list *measures) {
  fprintf(out, "{\"id\": \"%s\"", next->rule->id);
  member(out, "title", next->rule->title);
  member(out, "severity", severity_of(next->share));
  fprintf(out, ", \"share\": %.6f, \"stake_ns\": %.0f", next->share, next->stake_ns);
  member(out, "evidence", next->evidence);
  member(out, "advice", next->advice);
  fprintf(out, ", \"measures\": {");
  for (int i = 0; i < CONDITIONS_MAX && next->rule->conditions[i].sign; i++) {
    if (i) fprintf(out, ", ");
    print_value(out, measures, next->rule->conditions[i].measure);
  }
  fprintf(out, "}}");
}

void judgement_json(FILE *out, const judgement *made) {
  fprintf(out, "  \"verdict\": ");
  if (made->verdict.exists) print_verdict(out, made);
  else fprintf(out, "null");
  fprintf(out, ",\n  \"findings\": [");
  for (int i = 0; i < made->findings.count; i++) {
    fprintf(out, "%s\n    ", i ? "," : "");
    print_finding(out, &made->findings.list[i], &made->measures);
  }
  fprintf(out, "],\n");
}

/* ---- Rules ---------------------------------------------------------------------------------------------------------- */

void judgement_json_rules(FILE *out) {
  static const char *const units[] = {"count", "rank", "share", "ratio", "ns", "bytes", "text"};
  fprintf(out, "[");
  for (int i = 0; i < rule_count; i++) {
    const finding_rule *next = &rules[i];
    fprintf(out, "%s\n  {\"id\": \"%s\"", i ? "," : "", next->id);
    member(out, "title", next->title);
    fprintf(out, ",\n   \"conditions\": [");
    for (int j = 0; j < CONDITIONS_MAX && next->conditions[j].sign; j++) {
      const rule_condition *condition = &next->conditions[j];
      const measure_kind *kind = &measure_kinds[condition->measure];
      fprintf(out, "%s{\"measure\": \"%s\", \"sign\": \"%s\", \"limit\": %.9g, \"unit\": \"%s\"", j ? ", " : "",
              kind->name, condition->sign == '>' ? ">=" : "<", condition->limit, units[kind->unit]);
      member(out, "what", kind->what);
      fprintf(out, "}");
    }
    fprintf(out, "],\n   \"stake\": \"%s\", \"stake_share_least\": %.9g", measure_kinds[next->stake].name, STAKE_LEAST);
    member(out, "evidence", next->evidence);
    member(out, "advice", next->advice);
    fprintf(out, "}");
  }
  fprintf(out, "\n]\n");
}
