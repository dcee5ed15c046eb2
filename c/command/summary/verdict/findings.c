/* findings.c - the rules that apply to a job.
 * SPDX-License-Identifier: MIT */
#include "findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int measure_named(const char *name, size_t len) {
  for (int i = 0; i < MEASURE_COUNT; i++) {
    if (strlen(measure_kinds[i].name) == len && memcmp(measure_kinds[i].name, name, len) == 0) return i;
  }
  return -1;
}

/* "1 file": the end of a word after a measure, if it is a plural that is not one here. */
static size_t plural_len(const char *text, const measure_list *measures, enum measure measure) {
  const size_t len = strcspn(text + 1, " :,;)") + 1;
  const int is_one = measure_kinds[measure].unit == UNIT_COUNT && measures->values[measure].number == 1;
  return is_one && text[0] == ' ' && text[len - 1] == 's' ? len : 0;
}

/* The part in brackets that follows: 0 if all its measures are known, else how long it is. */
static size_t unknown_len(const char *text, const measure_list *measures) {
  const size_t len = strcspn(text, "]");
  for (const char *next = strchr(text, '{'); next && next < text + len; next = strchr(next + 1, '{')) {
    const int measure = measure_named(next + 1, strcspn(next + 1, "}"));
    if (measure >= 0 && !measures->values[measure].is_known) return len;
  }
  return 0;
}

char *finding_fill(const char *text, const measure_list *measures) {
  char *filled = NULL, value[MEASURE_TEXT_BYTES];
  size_t size = 0;
  FILE *out = open_memstream(&filled, &size);
  if (!out) return NULL;
  while (*text) {
    const size_t plain = strcspn(text, "{[]"), len = text[plain] == '{' ? strcspn(text + plain + 1, "}") : 0;
    const int measure = len ? measure_named(text + plain + 1, len) : -1;
    fwrite(text, 1, plain, out);
    if (measure >= 0) fputs(measure_format(value, measures, (enum measure)measure), out);
    if (text[plain] == '[') text += unknown_len(text + plain, measures);
    text += plain + (len ? len + 2 : text[plain] != 0);
    const size_t word = measure >= 0 && *text ? plural_len(text, measures, (enum measure)measure) : 0;
    if (word) fwrite(text, 1, word - 1, out);
    text += word;
  }
  if (fclose(out) == 0) return filled;
  free(filled);
  return NULL;
}

const char *severity_of(double share) {
  return share >= STAKE_CRITICAL ? "critical" : share >= STAKE_WARNING ? "warning" : "info";
}

static int applies(const finding_rule *rule, const measure_list *measures, double job_ns) {
  const measure_value *stake = &measures->values[rule->stake];
  const double share = stake->is_known && job_ns > 0 ? stake->number / job_ns : 0;
  for (int i = 0; i < CONDITIONS_MAX && rule->conditions[i].sign; i++) {
    if (!rule_condition_is_enough(&rule->conditions[i], measures, share)) return 0;
  }
  return share >= STAKE_LEAST;
}

static int by_stake(const void *a, const void *b) {
  const finding *one = a, *two = b;
  const int is_last = rule_is_of_outside(one->rule), is_other_last = rule_is_of_outside(two->rule);
  if (is_last != is_other_last) return is_last - is_other_last;
  if (one->stake_ns != two->stake_ns) return one->stake_ns > two->stake_ns ? -1 : 1;
  return (one->rule > two->rule) - (one->rule < two->rule);
}

int findings_make(finding_list *found, const measure_list *measures, const job_costs *costs) {
  int is_good = 1;
  *found = (finding_list){.list = calloc((size_t)rule_count, sizeof *found->list)};
  for (int i = 0; found->list && is_good && i < rule_count; i++) {
    finding *next = &found->list[found->count];
    if (!applies(&rules[i], measures, costs->job_ns)) continue;
    next->rule = &rules[i];
    next->stake_ns = measures->values[rules[i].stake].number;
    next->share = next->stake_ns / costs->job_ns;
    next->evidence = finding_fill(rules[i].evidence, measures);
    next->advice = finding_fill(rules[i].advice, measures);
    is_good = next->evidence && next->advice;
    found->count++;
  }
  if (found->list) qsort(found->list, (size_t)found->count, sizeof *found->list, by_stake);
  return found->list && is_good;
}

void findings_free(finding_list *found) {
  for (int i = 0; i < found->count; i++) {
    free(found->list[i].evidence);
    free(found->list[i].advice);
  }
  free(found->list);
  *found = (finding_list){0};
}
