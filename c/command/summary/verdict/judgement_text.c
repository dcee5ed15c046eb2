/* judgement_text.c - verdict, findings and rules for people.
 * SPDX-License-Identifier: MIT */
#include "judgement_text.h"

#include <stdlib.h>
#include <string.h>

#include "command/cli/table.h"
#include "command/cli/terminal.h"

static void wrap(FILE *out, int indent, const char *text, size_t len) {
  char line[2048];
  if (len >= sizeof line) len = sizeof line - 1;
  memcpy(line, text, len);
  line[len] = '\0';
  fprintf(out, "%*s", indent, "");
  terminal_wrap(out, line, indent, indent + 2, table_room(out));
}

static void wrap_text(FILE *out, int indent, const char *text) {
  wrap(out, indent, text, strlen(text));
}

void judgement_print_verdict(FILE *out, const judgement *made) {
  const job_verdict *verdict = &made->verdict;
  char next[2048];
  if (made->silence) {
    wrap_text(out, 0, made->silence);
    fputc('\n', out);
  }
  if (!verdict->exists) return;
  if (terminal_has_colour(out)) fprintf(out, "\033[1m");
  wrap_text(out, 0, verdict->text);
  if (terminal_has_colour(out)) fprintf(out, "\033[0m");
  for (const char *line = verdict->evidence; *line;) {
    size_t len = strcspn(line, "\n");
    wrap(out, 2, line, len);
    line += len + (line[len] == '\n');
  }
  if (*verdict->next) {
    snprintf(next, sizeof next, "Next: %s", verdict->next);
    if (next[strlen(next) - 1] != '.') strncat(next, ".", sizeof next - strlen(next) - 1);
    wrap_text(out, 0, next);
  }
  if (!made->findings.count) fputc('\n', out);
}

void judgement_print_findings(FILE *out, const judgement *made, uint32_t top) {
  char time[FORMAT_BYTES], line[2048];
  const finding_list *found = &made->findings;
  if (!found->count) return;
  table_heading(out, "Findings", "time at stake, at most; --explain ID tells more");
  for (int i = 0; i < found->count && (uint32_t)i < top; i++) {
    const finding *next = &found->list[i];
    snprintf(line, sizeof line, "%s (%.0f %%)  %s: %s.", format_duration(time, next->stake_ns / 1e9), 100 * next->share,
             next->rule->id, next->evidence);
    wrap_text(out, 2, line);
    wrap_text(out, 4, next->advice);
  }
  fputc('\n', out);
}

/* ---- Rules ---------------------------------------------------------------------------------------------------------- */

/* "small_reads >= 1,000 (reads of less than 1 MiB); it is 5,760: true" */
static void print_condition(FILE *out, const rule_condition *condition, const measure_list *measures, double share) {
  const measure_kind *kind = &measure_kinds[condition->measure];
  char limit[MEASURE_TEXT_BYTES], value[MEASURE_TEXT_BYTES], line[2048];
  int len = snprintf(line, sizeof line, "%s %s %s (%s)", kind->name, condition->sign == '>' ? ">=" : "<",
                     rule_condition_limit(limit, condition), kind->what);
  if (measures)
    snprintf(line + len, sizeof line - (size_t)len, "; it is %s: %s",
             measure_format(value, measures, condition->measure),
             rule_condition_holds(condition, measures)              ? "true"
             : rule_condition_is_enough(condition, measures, share) ? "enough, because 20 % of the job is at stake"
                                                                    : "not true");
  wrap_text(out, 4, line);
}

static void print_stake(FILE *out, const finding_rule *rule, const judgement *made) {
  const measure_kind *stake = &measure_kinds[rule->stake];
  const measure_value *known = made ? &made->measures.values[rule->stake] : NULL;
  char value[MEASURE_TEXT_BYTES], line[2048];
  int len = snprintf(line, sizeof line, "%s >= %.0f %% of the job (%s)", stake->name, 100 * STAKE_LEAST, stake->what);
  if (known && known->is_known && made->costs.job_ns > 0) {
    const double share = known->number / made->costs.job_ns;
    snprintf(line + len, sizeof line - (size_t)len, "; it is %s, %.1f %%: %s",
             measure_format(value, &made->measures, rule->stake), 100 * share,
             share >= STAKE_LEAST ? "true" : "not true");
  } else if (made) {
    snprintf(line + len, sizeof line - (size_t)len, "; it is unknown: not true");
  }
  wrap_text(out, 4, line);
}

static void print_rule(FILE *out, const finding_rule *rule, const judgement *made) {
  const measure_value *stake = made ? &made->measures.values[rule->stake] : NULL;
  const double share = stake && stake->is_known && made->costs.job_ns > 0 ? stake->number / made->costs.job_ns : 0;
  table_heading(out, rule->id, rule->title);
  for (int i = 0; i < CONDITIONS_MAX && rule->conditions[i].sign; i++)
    print_condition(out, &rule->conditions[i], made ? &made->measures : NULL, share);
  print_stake(out, rule, made);
}

void judgement_print_rules(FILE *out) {
  const measure_list unknown = {0};
  char line[256];
  snprintf(
    line, sizeof line,
    "A finding is shown if all its conditions are true. From %.0f %% of the job on it is a warning, from %.0f %% on "
    "critical. If it is critical, a tenth of a limit of 1,000 or more is enough.",
    100 * STAKE_WARNING, 100 * STAKE_CRITICAL);
  wrap_text(out, 0, line);
  for (int i = 0; i < rule_count; i++) {
    char *advice = finding_fill(rules[i].advice, &unknown);
    print_rule(out, &rules[i], NULL);
    if (advice) wrap_text(out, 4, advice);
    free(advice);
  }
}

void judgement_explain(FILE *out, const judgement *made, const finding_rule *rule) {
  const finding *found = NULL;
  char line[2048];
  for (int i = 0; i < made->findings.count; i++) {
    if (made->findings.list[i].rule == rule) found = &made->findings.list[i];
  }
  print_rule(out, rule, made);
  fprintf(out, "\n");
  if (!found) {
    wrap_text(out, 2, "The rule does not apply to this job.");
    return;
  }
  snprintf(line, sizeof line, "The rule applies: %s.", found->evidence);
  wrap_text(out, 2, line);
  wrap_text(out, 2, found->advice);
}
