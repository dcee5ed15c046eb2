/* collectives.c - how long ranks waited for each other.
 * SPDX-License-Identifier: MIT */
#include "collectives.h"

#include <stdlib.h>
#include <string.h>

/* The calls of one process. */
typedef struct caller {
  uint32_t name, host;
  int64_t rank;
  arrival_list *list;
  run_merge calls;
  const time_span *call;
  uint64_t came_last;
} caller;

static int by_name_and_rank(const void *a, const void *b) {
  const caller *one = a, *two = b;
  if (one->name != two->name) return one->name < two->name ? -1 : 1;
  return (one->rank > two->rank) - (one->rank < two->rank);
}

/* Everyone who called anything. The caller frees it. NULL: no memory. */
static caller *find_callers(summary_state *state, uint32_t *count) {
  caller *callers;
  uint32_t all = 0;
  for (uint32_t i = 1; i <= state->process_count; i++) all += state->processes[i].counts.comm.count;
  callers = calloc((size_t)all + 1, sizeof *callers);
  *count = 0;
  for (uint32_t i = 1; callers && i <= state->process_count; i++) {
    state_process *process = &state->processes[i];
    for (uint32_t j = 0; j < process->counts.comm.count; j++) {
      arrival_list *list = &process->counts.comm.lists[j];
      callers[(*count)++] = (caller){.name = list->name, .host = process->host, .rank = process->rank, .list = list};
    }
  }
  if (callers) qsort(callers, *count, sizeof *callers, by_name_and_rank);
  return callers;
}

static int is_point_to_point(const char *name) {
  static const char *const names[] = {"send", "receive", "recv", "isend", "irecv"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(name, names[i]) == 0) return 1;
  }
  return 0;
}

/* Whether some ranks made one call more, and it can only be their last one. */
static int has_one_more(const summary_state *state, const collective *sum) {
  return sum->most - sum->least == 1 && !state->question.has_from && !state->dropped;
}

/* Callers of one name are sorted by rank. NULL: they can be compared. */
static const char *why_unknown(const summary_state *state, const caller *callers, uint32_t count,
                               const collective *sum) {
  if (is_point_to_point(state_text_of(state, sum->name).text)) return "point to point";
  if (count == 1) return "only one process called it";
  for (uint32_t i = 0; i < count; i++) {
    if (callers[i].rank == NO_NUMBER) return "a process has no rank";
    if (i && callers[i].rank == callers[i - 1].rank) return "two processes have the same rank";
  }
  return sum->most == sum->least || has_one_more(state, sum) ? NULL : "the ranks made different numbers of calls";
}

/* The n-th call of all. */
static void add_call(collective *sum, caller *callers, uint32_t count) {
  int64_t last = INT64_MIN;
  caller *who = NULL;
  for (uint32_t i = 0; i < count; i++) {
    if (callers[i].call->start == last) who = NULL; /* not alone */
    if (callers[i].call->start <= last) continue;
    last = callers[i].call->start;
    who = &callers[i];
  }
  if (who) who->came_last++;
  for (uint32_t i = 0; i < count; i++) {
    const time_span *call = callers[i].call;
    int64_t end = call->end < last ? call->end : last;
    if (end > call->start) sum->waited_ns += (uint64_t)(end - call->start);
  }
}

static int compare_arrivals(collective *sum, caller *callers, uint32_t count) {
  int is_good = 1;
  for (uint32_t i = 0; i < count; i++) record_pile_read(&callers[i].list->calls, &callers[i].calls);
  for (uint64_t call = 0; is_good && call < sum->least; call++) {
    for (uint32_t i = 0; i < count; i++) {
      callers[i].call = run_merge_next(&callers[i].calls);
      is_good &= callers[i].call != NULL;
    }
    if (is_good) add_call(sum, callers, count);
  }
  for (uint32_t i = 0; i < count; i++) {
    run_merge_free(&callers[i].calls);
    if (callers[i].came_last <= sum->last_calls) continue;
    sum->last_calls = callers[i].came_last;
    sum->last_rank = callers[i].rank;
  }
  return is_good;
}

static int by_host(const void *a, const void *b) {
  const uint32_t *one = a, *two = b;
  return (*one > *two) - (*one < *two);
}

static uint64_t count_hosts(const caller *callers, uint32_t count) {
  uint32_t *hosts = malloc((count + 1) * sizeof *hosts);
  uint64_t different = count != 0;
  for (uint32_t i = 0; hosts && i < count; i++) hosts[i] = callers[i].host;
  if (hosts) qsort(hosts, count, sizeof *hosts, by_host);
  for (uint32_t i = 1; hosts && i < count; i++) different += hosts[i] != hosts[i - 1];
  free(hosts);
  return hosts ? different : 0;
}

int collective_list_init(collective_list *list, summary_state *state) {
  uint32_t count, next;
  caller *callers = find_callers(state, &count);
  int is_good = callers != NULL;
  *list = (collective_list){.calls = calloc((size_t)count + 1, sizeof *list->calls)};
  is_good = is_good && list->calls;
  for (uint32_t first = 0; is_good && first < count; first = next) {
    collective *sum = &list->calls[list->count++];
    *sum = (collective){.name = callers[first].name, .least = UINT64_MAX, .last_rank = NO_NUMBER};
    for (next = first; next < count && callers[next].name == sum->name; next++) {
      const arrival_list *own = callers[next].list;
      sum->processes++;
      sum->calls += own->count;
      sum->time_ns += own->time_ns;
      if (own->count < sum->least) sum->least = own->count;
      if (own->count > sum->most) sum->most = own->count;
    }
    sum->hosts = count_hosts(callers + first, next - first);
    sum->unknown = why_unknown(state, callers + first, next - first, sum);
    is_good = sum->hosts != 0;
    if (is_good && !sum->unknown) is_good = compare_arrivals(sum, callers + first, next - first);
  }
  free(callers);
  return is_good;
}

void collective_list_free(collective_list *list) {
  free(list->calls);
  *list = (collective_list){0};
}
