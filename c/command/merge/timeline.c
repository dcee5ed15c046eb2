/* timeline.c - the file of a timeline, in Chrome's trace format.
 * SPDX-License-Identifier: MIT */
#include "timeline.h"

#include <stdio.h>

#define DAY_NS (INT64_C(86400) * 1000000000)

void timeline_begin_line(timeline *merged, const char *start) {
  outfile_text(&merged->out, merged->lines++ ? ",\n" : "\n");
  outfile_text(&merged->out, start);
}

void timeline_expect_fractions(timeline *merged) {
  merged->has_fractions = 1;
}

void timeline_put_time(timeline *merged, int64_t ns) {
  if (!merged->has_base) {
    merged->has_base = 1;
    if (merged->has_fractions && ns > 2 * DAY_NS) merged->base_ns = (ns / DAY_NS - 1) * DAY_NS;
  }
  outfile_us(&merged->out, ns - merged->base_ns);
}

int timeline_open(timeline *merged, const char *path, const char *facts) {
  int error;
  memset(merged, 0, sizeof *merged);
  merged->runs.limit = UINT32_MAX - 1;
  error = outfile_open(&merged->out, path);
  if (error) return error;
  outfile_text(&merged->out, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"merged_by\":\"dftracer " DFT_VERSION "\"");
  outfile_text(&merged->out, facts);
  outfile_text(&merged->out, "},\"traceEvents\":[");
  return 0;
}

/* ---- The end -------------------------------------------------------------------------------------------------------- */

static int has_several_hosts(const track_list *tracks) {
  const char *first = NULL;
  for (size_t i = 0; i < tracks->count; i++) {
    if (!tracks->list[i].host) continue;
    if (first && strcmp(first, tracks->list[i].host) != 0) return 1;
    first = tracks->list[i].host;
  }
  return 0;
}

/* Ranks have as many digits as the highest one: Perfetto sorts tracks by name where it sorts them at all: 007 stays before 010. */
static int digits_of(int32_t rank) {
  int digits = 1;
  for (; rank > 9; rank /= 10) digits++;
  return digits;
}

static int most_digits(const track_list *tracks) {
  int most = 1;
  for (size_t i = 0; i < tracks->count; i++) {
    int digits = digits_of(tracks->list[i].rank);
    if (digits > most) most = digits;
  }
  return most;
}

/* "Rank 003 (node17)", or for a worker of that rank "Rank 003, DataLoader worker 1" */
static void put_process_name(timeline *merged, const track_process *process, int digits, int with_host) {
  outfile *out = &merged->out;
  char name[256], plain[24];
  snprintf(plain, sizeof plain, "Rank %d", process->rank); /* some traces say this themselves */
  if (process->name && strcmp(process->name, plain) != 0) snprintf(name, sizeof name, "%s", process->name);
  else if (process->rank >= 0)
    snprintf(name, sizeof name, "Rank %.*s%d", digits - digits_of(process->rank), "000000000", process->rank);
  else snprintf(name, sizeof name, "process %llu", (unsigned long long)process->pid);
  timeline_begin_line(merged, "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":");
  outfile_int(out, process->shown);
  outfile_text(out, ",\"args\":{\"name\":\"");
  outfile_escaped(out, name, strlen(name));
  if (process->main_name) {
    outfile_text(out, ", ");
    outfile_escaped(out, process->main_name, strlen(process->main_name));
  }
  if (with_host && process->host) {
    outfile_text(out, " (");
    outfile_escaped(out, process->host, strlen(process->host));
    outfile_text(out, ")");
  }
  outfile_text(out, "\"}}");
}

/* Ranks in their order, each followed by its workers. */
static void put_process_order(timeline *merged, const track_process *process) {
  timeline_begin_line(merged, "{\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":");
  outfile_int(&merged->out, process->shown);
  outfile_text(&merged->out, ",\"args\":{\"sort_index\":");
  outfile_int(&merged->out, 2 * (int64_t)process->rank + (process->main_name != NULL));
  outfile_text(&merged->out, "}}");
}

int timeline_close(timeline *merged, int is_complete) {
  int error;
  if (is_complete) {
    int with_host = has_several_hosts(&merged->tracks), digits = most_digits(&merged->tracks);
    for (size_t i = 0; i < merged->tracks.count; i++) {
      const track_process *process = &merged->tracks.list[i];
      if (process->is_guest) continue; /* its own file has named it */
      put_process_name(merged, process, digits, with_host);
      if (process->rank >= 0) put_process_order(merged, process);
    }
    outfile_text(&merged->out, "\n],\"baseTimeNanoseconds\":");
    outfile_int(&merged->out, merged->base_ns);
    outfile_text(&merged->out, "}\n");
  }
  error = outfile_close(&merged->out, is_complete);
  tracks_free(&merged->tracks);
  return error;
}
