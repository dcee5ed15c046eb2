/* summary_job.c - the summary for people: the job as a whole.
 * SPDX-License-Identifier: MIT */
#include "summary_job.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "cells.h"
#include "command/cli/terminal.h"

#define WHEN_BYTES 64
#define EPOCH_LEAST INT64_C(1000000000000000000) /* times before 2001 are relative to something else */
#define GAPS_SHOWN 5u

/* Local time, or nothing. */
static const char *format_when(char out[WHEN_BYTES], int64_t ns) {
  time_t start = (time_t)(ns / 1000000000);
  struct tm local;
  out[0] = '\0';
  if (ns > EPOCH_LEAST && localtime_r(&start, &local)) strftime(out, WHEN_BYTES, "%Y-%m-%d %H:%M:%S", &local);
  return out;
}

/* ---- First lines ---------------------------------------------------------------------------------------------------- */

/* "rank 3 of 4 has no trace", "ranks 3, 5-7 of 64 have no trace" */
static void print_missing(FILE *out, const job_facts *facts) {
  char text[FORMAT_BYTES];
  if (!facts->missing_ranks) return;
  fprintf(out, " (rank%s", plural(facts->missing_ranks));
  for (uint32_t i = 0; i < facts->gap_count && i < GAPS_SHOWN; i++) {
    const rank_gap *gap = &facts->gaps[i];
    fprintf(out, "%s%" PRIu64, i ? ", " : " ", gap->first);
    if (gap->last > gap->first) fprintf(out, "-%" PRIu64, gap->last);
  }
  if (facts->gap_count > GAPS_SHOWN) fprintf(out, " ..., %s", format_count(text, facts->missing_ranks));
  fprintf(out, " of %s %s no trace)", format_count(text, facts->world_size),
          facts->missing_ranks == 1 ? "has" : "have");
}

static const char *format_ns(char out[FORMAT_BYTES], uint64_t ns) {
  return ns ? format_duration(out, (double)ns / 1e9) : "0";
}

/* None of it is part of the times below. */
static void print_cost(FILE *out, const summary_answer *answer) {
  const job_facts *facts = &answer->facts;
  char text[FORMAT_BYTES], line[256];
  int len;
  if (!facts->costed) return;
  len = snprintf(line, sizeof line, "cost of tracing: %s%s after the end of %s", facts->costed > 1 ? "up to " : "",
                 format_ns(text, facts->finish_most_ns), facts->costed > 1 ? "a process" : "the program");
  len += snprintf(line + len, sizeof line - (size_t)len, ", %s of CPU in the background",
                  format_ns(text, facts->drain_cpu_ns));
  len += snprintf(line + len, sizeof line - (size_t)len, ", %s in %s threads",
                  facts->assist_ns ? format_ns(text, facts->assist_ns) : "none", facts->costed > 1 ? "their" : "its");
  if (facts->costed < answer->processes)
    snprintf(line + len, sizeof line - (size_t)len, " (known of %s of %u processes)", format_count(text, facts->costed),
             answer->processes);
  terminal_wrap(out, line, 0, 2, table_room(out));
}

static void print_runs(FILE *out, const run_list *runs, uint32_t top) {
  static const table_column columns[] = {{"run", 'r'},       {"start", 'l'},  {"time", 'r'},
                                         {"processes", 'r'}, {"events", 'r'}, {"command", 't'}};
  table lines = {.columns = columns, .column_count = 6};
  char note[128], when[WHEN_BYTES];
  if (runs->count < 2) return;
  if (runs->shown == RUN_ALL) snprintf(note, sizeof note, "all are added up; --run N shows one");
  else snprintf(note, sizeof note, "run %u is shown; --run N shows another one, --run all adds them up", runs->shown);
  table_heading(out, "Runs", note);
  for (uint32_t i = runs->count > top ? runs->count - top : 0; i < runs->count; i++) {
    const run_facts *run = &runs->runs[i];
    table_format(&lines, "%u", i + 1);
    table_format(&lines, "%s", run->first > EPOCH_LEAST ? format_when(when, run->first) : "-");
    add_time(&lines, (uint64_t)(run->last - run->first));
    add_count(&lines, run->processes);
    add_count(&lines, run->events);
    table_format(&lines, "%s", *run->command ? run->command : "-");
  }
  table_print(&lines, out, 2);
  if (runs->count > top) fprintf(out, "  and %u older; --top N shows more\n", runs->count - top);
}

void summary_head(FILE *out, const summary_answer *answer, uint32_t top) {
  const summary_state *state = answer->state;
  char text[FORMAT_BYTES], when[WHEN_BYTES];
  const uint32_t traces = state->source_count, hosts = state->host_numbers.count, threads = answer->threads;
  fprintf(out, "%s trace%s", format_count(text, traces), plural(traces));
  const int is_partial = state->all_problems || state->dropped || answer->facts.unfinished;
  fprintf(out, ", %s%s event%s%s", is_partial ? at_least() : "", format_count(text, state->events),
          plural(state->events), is_partial ? " (see Notes)" : "");
  fprintf(out, ", %s process%s", format_count(text, answer->processes), answer->processes == 1 ? "" : "es");
  print_missing(out, &answer->facts);
  fprintf(out, ", %s thread%s", format_count(text, threads), plural(threads));
  if (hosts) fprintf(out, ", %s host%s", format_count(text, hosts), plural(hosts));
  format_when(when, state->first);
  fprintf(out, "\njob time %s%s%s", format_duration(text, (double)answer->job_ns / 1e9), *when ? ", " : "", when);
  if (answer->unit_ns > 1000) fprintf(out, ", in whole %sseconds", answer->unit_ns < 1000000000 ? "milli" : "");
  if (answer->runs->shown == RUN_ALL && answer->runs->count > 1)
    fprintf(out, ", with the time between %u runs", answer->runs->count);
  fprintf(out, "\n");
  print_cost(out, answer);
  print_runs(out, answer->runs, top);
}
