/* eventtable.c - the events by name, file, process, thread, step or rank, for people.
 * SPDX-License-Identifier: MIT */
#include "eventtable.h"

#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "command/summary/answer/processlabel.h"
#include "command/symbol/demangle.h"

/* The columns that say which group it is. */
typedef struct group_columns {
  uint32_t by;
  process_columns process;
  const char *one, *two;
  text_pool names; /* by name: those that are shown, */
  uint32_t *uses;  /* and how often */
} group_columns;

static int is_of_process(const group_columns *group) {
  return group->by == BY_PROCESS || group->by == BY_THREAD;
}

/* Returns the number of columns. */
static int title_group(group_columns *group, const summary_state *state, table_column *columns) {
  int count = 0;
  group->by = state->question.by;
  group->process = process_columns_of(state);
  answer_titles(group->by, &group->one, &group->two);
  if (group->by != BY_PROCESS) columns[count++] = (table_column){group->one, group->by == BY_FILE ? 'p' : 't'};
  if (is_of_process(group)) return count + process_columns_title(&group->process, columns + count);
  if (group->two) columns[count++] = (table_column){group->two, 't'};
  return count;
}

/* Functions that differ only in their parameters have the same short name. Finds out which are shown. */
static void count_names(group_columns *group, const summary_state *state, const answer_group *groups, uint32_t count) {
  if (group->by == BY_NAME) group->uses = calloc((size_t)count + 1, sizeof *group->uses);
  for (uint32_t i = 0; group->uses && i < count; i++) {
    answer_label name, cat;
    uint32_t number;
    char *plain;
    answer_group_labels(state, groups[i].number, &name, &cat);
    plain = demangle(name.text, 0);
    if (!plain) continue;
    number = text_pool_add(&group->names, plain, strlen(plain));
    if (number < count) group->uses[number]++;
    free(plain);
  }
}

/* The name of a function as people write it, with its parameters where the table needs them to tell it from another. */
static void add_name(group_columns *group, table *sheet, dft_text name) {
  char *plain = demangle(name, 0), *longer = NULL;
  uint32_t number = plain ? text_pool_add(&group->names, plain, strlen(plain)) : UINT32_MAX;
  if (number != UINT32_MAX && group->uses && group->uses[number] > 1) longer = demangle(name, 1);
  if (longer) table_add(sheet, longer, strlen(longer));
  else if (plain) table_add(sheet, plain, strlen(plain));
  else add_text(sheet, name);
  free(plain);
  free(longer);
}

static void add_group(group_columns *group, table *sheet, const summary_state *state, uint32_t number) {
  answer_label first, second;
  answer_group_labels(state, number, &first, &second);
  if (group->by == BY_NAME) add_name(group, sheet, first.text);
  else if (group->by != BY_PROCESS) add_text(sheet, first.text);
  if (is_of_process(group))
    process_columns_add(&group->process, sheet, state, (uint32_t)state->group_numbers.keys[number].a);
  else if (group->two) add_text(sheet, second.text);
}

static void add_stats(table *sheet, const summary_answer *answer, const group_stats *stats) {
  add_count(sheet, stats->durations.count);
  add_time(sheet, stats->total_ns);
  add_time(sheet, stats->self_ns);
  add_time(sheet, stats->total_ns / stats->durations.count);
  add_time(sheet, histogram_percentile(&stats->durations, 0.5, answer->grain_ns));
  add_time(sheet, histogram_percentile(&stats->durations, 0.95, answer->grain_ns));
  add_time(sheet, stats->durations.most);
  add_share(sheet, stats->self_ns, answer->covered_ns);
}

static int has_steps(const summary_state *state) {
  for (uint32_t i = 1; i <= state->group_numbers.count; i++) {
    if ((int64_t)state->group_numbers.keys[i].b != NO_NUMBER) return 1;
  }
  return 0;
}

void event_table(FILE *out, const summary_answer *answer, uint32_t top) {
  static const char *const titles[] = {"count", "total", "self", "mean", "~median", "~p95", "max", "share"};
  const summary_state *state = answer->state;
  table_column columns[TABLE_COLUMNS];
  table events = {.columns = columns};
  group_columns group = {0};
  char title[64], note[SHOWN_BYTES];
  uint32_t count;
  answer_group *groups = answer_groups(state, &count);
  int texts = title_group(&group, state, columns);
  for (int i = 0; i < 8; i++)
    columns[texts + i] = (table_column){titles[i], i == 7 ? 'k' : i < 3 || i == 6 ? 'r' : 'o'};
  events.column_count = texts + 8;
  snprintf(title, sizeof title, "Events by %s", group.one);
  table_heading(out, title, shown(note, top, count));
  if (groups) count_names(&group, state, groups, count < top ? count : top);
  for (uint32_t i = 0; groups && i < count && i < top; i++) {
    add_group(&group, &events, state, groups[i].number);
    add_stats(&events, answer, groups[i].stats);
  }
  if (count) table_print(&events, out, 2);
  else fprintf(out, "  none%s\n", state->metadata || state->counters ? ": the traces have no events that match" : "");
  if (group.by == BY_STEP && count && !has_steps(state))
    fprintf(out, "  no event has an argument \"step\": the steps are unknown\n");
  free(groups);
  free(group.uses);
  text_pool_free(&group.names);
}
