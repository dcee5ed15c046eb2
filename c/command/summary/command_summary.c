/* command_summary.c - dftracer summary: where the time went.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/cli/arguments.h"
#include "command/trace/spill.h"
#include "command/trace/trouble.h"
#include "summary_json.h"
#include "summary_text.h"

#define PATTERNS_MAX 64

enum {
  OPTION_BY = OPTION_LONG + 1,
  OPTION_FROM,
  OPTION_TO,
  OPTION_NAME,
  OPTION_CAT,
  OPTION_JSON,
  OPTION_CSV,
  OPTION_TOP,
  OPTION_MEMORY
};

static const option options[] = {
  {OPTION_BY, "by", "name|file|process|thread|step",
   "print only the table of events, grouped by this; default: grouped by name, with all other sections"},
  {OPTION_FROM, "from", "TIME", "only events that start at or after TIME, such as 10s or 250ms after the first event"},
  {OPTION_TO, "to", "TIME", "only events that start before TIME"},
  {OPTION_NAME, "name", "PATTERN", "show only events whose name matches; * and ? are wildcards; may be repeated"},
  {OPTION_CAT, "cat", "PATTERN", "show only events whose category matches; may be repeated"},
  {OPTION_TOP, "top", "N", "lines per table; default: 15. JSON and CSV are always complete"},
  {OPTION_JSON, "json", NULL, "print everything as JSON; times are nanoseconds"},
  {OPTION_CSV, "csv", NULL, "print the table of events as CSV"},
  {OPTION_MEMORY, "memory", "SIZE", "what does not fit is spilled to $TMPDIR while it is needed; default: 64Mi"},
  {'j', "jobs", "N", "number of reading threads; default: one per core"},
  {0, NULL, NULL, NULL},
};

const command command_summary;

typedef struct summary_options {
  summary_question question;
  const char *names[PATTERNS_MAX], *cats[PATTERNS_MAX]; /* that the question points to */
  int form;                                             /* OPTION_JSON, OPTION_CSV, or 0 */
  int is_by_given;
  uint64_t top;
} summary_options;

static int set_pattern(arguments *given, const char **list, int *count) {
  if (*count == PATTERNS_MAX) {
    given->status = arguments_refuse(given, "more than %d patterns", PATTERNS_MAX);
    return 0;
  }
  list[(*count)++] = given->value;
  return 1;
}

/* 0: the option's value is wrong, and given->status says so. */
static int set_option(summary_options *chosen, arguments *given, int key) {
  static const char *const words[] = {"name", "file", "process", "thread", "step", NULL};
  summary_question *question = &chosen->question;
  uint64_t jobs, memory;
  switch (key) {
    case OPTION_BY: chosen->is_by_given = 1; return (question->by = arguments_choice(given, words)) >= 0;
    case OPTION_FROM: question->has_from = 1; return arguments_time(given, &question->from_ns);
    case OPTION_TO: question->has_to = 1; return arguments_time(given, &question->to_ns);
    case OPTION_NAME: return set_pattern(given, chosen->names, &question->name_count);
    case OPTION_CAT: return set_pattern(given, chosen->cats, &question->cat_count);
    case OPTION_TOP: return arguments_number(given, 1, UINT32_MAX, &chosen->top);
    case OPTION_MEMORY:
      if (!arguments_number(given, 0, UINT64_MAX, &memory)) return 0;
      spill_set_limit(memory);
      return 1;
    case 'j':
      if (!arguments_number(given, 1, 1024, &jobs)) return 0;
      question->threads = (int)jobs;
      return 1;
    default: chosen->form = key; return 1;
  }
}

/* Returns the exit status. */
static int print(const trace_totals *totals, const summary_options *chosen) {
  dft_reader *reader = totals->shared.reader;
  const tally *counts = &totals->counts;
  if (!counts->metadata && !counts->counters && !totals->shared.thread_numbers.count) {
    if (!trouble_print_all(stderr, "dftracer summary: ", reader, 10))
      fprintf(stderr, "dftracer summary: there is nothing to count: is it a trace?\n");
    return STATUS_FAILED;
  }
  if (chosen->form == OPTION_JSON) summary_json(stdout, totals);
  else if (chosen->form == OPTION_CSV) summary_csv(stdout, totals);
  else summary_text(stdout, totals, (uint32_t)chosen->top, !chosen->is_by_given);
  return STATUS_DONE;
}

static int summarise(dft_reader *reader, const summary_options *chosen) {
  trace_totals *totals = calloc(1, sizeof *totals);
  progress shown;
  int status = STATUS_FAILED, is_good = 0;
  if (totals) {
    progress_begin(&shown, "summary", 0, 0);
    is_good = totals_collect(totals, reader, &chosen->question, &shown);
    progress_end(&shown);
  }
  if (is_good) status = print(totals, chosen);
  else if (spill_error())
    fprintf(stderr, "dftracer summary: %s: %s; set TMPDIR to a folder with more room\n", spill_folder(),
            strerror(spill_error()));
  else fprintf(stderr, "dftracer summary: out of memory\n");
  if (totals) totals_free(totals);
  free(totals);
  return status;
}

static int run_summary(int argc, char **argv) {
  arguments given = {.command = &command_summary, .argc = argc, .argv = argv};
  summary_options chosen = {.top = 15};
  dft_reader *reader;
  int key, status;
  chosen.question.names = chosen.names;
  chosen.question.cats = chosen.cats;
  chosen.question.threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
  while ((key = arguments_next(&given)) > 0) {
    if (!set_option(&chosen, &given, key)) return given.status;
  }
  if (key < 0) return given.status;
  if (!given.count) return arguments_refuse(&given, "no trace given: PATH is missing");
  if (chosen.question.threads < 1) chosen.question.threads = 1;
  reader = trouble_open("summary", NULL, argv + given.first, given.count);
  if (!reader) return STATUS_FAILED;
  status = summarise(reader, &chosen);
  dft_reader_close(reader);
  return status;
}

const command command_summary = {
  .name = "summary",
  .arguments = "PATH...",
  .summary = "where the time went",
  .text =
    "Reads traces and shows where the time went. PATH is a trace, a folder of traces, or the spool of a process "
    "that is "
    "still running or has died.\n\n"
    "The summary splits the time of all threads into regions, I/O calls and the rest. It lists events by name, "
    "and I/O by file "
    "and by process. For a training run, it shows the time of compute and fetch, the time spent waiting for data, "
    "and how much of "
    "the loading overlaps with compute. docs/summary.md defines every number.\n\n"
    "  dftracer summary out\n"
    "  dftracer summary --by file --cat POSIX out\n"
    "  dftracer summary --json --from 10s --to 20s out/*.pfw.gz\n",
  .options = options,
  .run = run_summary,
};
