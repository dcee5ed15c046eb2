/* regiontable.c - regions over ranks, for people.
 * SPDX-License-Identifier: MIT */
#include "regiontable.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "command/cli/terminal.h"
#include "command/symbol/demangle.h"

static void add_name(table *lines, dft_text name) {
  char *plain = demangle(name, 0);
  if (plain) table_add(lines, plain, strlen(plain));
  else add_text(lines, name);
  free(plain);
}

/* "1.20 s (3)": of rank 3. */
static void add_member(table *lines, const summary_state *state, const region_member *member) {
  char text[FORMAT_BYTES];
  const char *time = member->total_ns ? format_duration(text, (double)member->total_ns / 1e9) : "0";
  if (member->rank != NO_NUMBER) table_format(lines, "%s (%" PRId64 ")", time, member->rank);
  else table_format(lines, "%s (pid %" PRIu64 ")", time, state->processes[member->process].pid);
}

/* Regions that take the same time on all ranks are last, and not shown. */
static uint32_t count_uneven(const rank_region_list *list) {
  uint32_t count = 0;
  while (count < list->count && list->regions[count].lost_ns) count++;
  return count;
}

void region_table(FILE *out, const summary_answer *answer, uint32_t top) {
  static const table_column columns[] = {{"name", 't'},      {"cat", 't'},        {"ranks", 'r'},
                                         {"mean", 'r'},      {"min (rank)", 'r'}, {"max (rank)", 'r'},
                                         {"deviation", 'o'}, {"imbalance", 'k'},  {"lost", 'k'}};
  table lines = {.columns = columns, .column_count = 9};
  const rank_region_list *list = &answer->rank_regions;
  const uint32_t count = count_uneven(list);
  char note[SHOWN_BYTES + 64], more[SHOWN_BYTES];
  if (list->ranks < 2 || !count) return;
  shown(more, top, count);
  snprintf(note, sizeof note, "lost: max - mean, of each rank%s%s", *more ? "; " : "", more);
  table_heading(out, "Regions over ranks", note);
  for (uint32_t i = 0; i < count && i < top; i++) {
    const rank_region *region = &list->regions[i];
    add_name(&lines, state_text_of(answer->state, region->name));
    add_text(&lines, state_text_of(answer->state, region->cat));
    add_count(&lines, region->ranks);
    add_time(&lines, region->mean_ns);
    add_member(&lines, answer->state, &region->min);
    add_member(&lines, answer->state, &region->max);
    add_time(&lines, region->deviation_ns);
    add_share(&lines, region->lost_ns, region->max.total_ns);
    add_time(&lines, region->lost_ns);
  }
  table_print(&lines, out, 2);
}
