/* summary.c - dftracer summary: where the time went.
 * SPDX-License-Identifier: MIT */
#include "summary.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/cli/arguments.h"
#include "command/cli/terminal.h"
#include "command/trace/trouble.h"

#define PATTERNS_MAX 64

enum {
  OPTION_BY = OPTION_LONG + 1,
  OPTION_FROM,
  OPTION_TO,
  OPTION_NAME,
  OPTION_CAT,
  OPTION_JSON,
  OPTION_CSV,
  OPTION_TOP
};

static const option options[] = {
  {OPTION_BY, "by", "name|file|process|thread|step",
   "the table of events by this, alone; default: by name, and all other sections"},
  {OPTION_FROM, "from", "TIME", "only events that start at or after TIME, such as 10s or 250ms after the first event"},
  {OPTION_TO, "to", "TIME", "only events that start before TIME"},
  {OPTION_NAME, "name", "PATTERN",
   "in the tables, only events of this name; * and ? stand for anything; may be repeated"},
  {OPTION_CAT, "cat", "PATTERN", "in the tables, only events of this category; may be repeated"},
  {OPTION_TOP, "top", "N", "lines of each table; default: 15. JSON and CSV have all"},
  {OPTION_JSON, "json", NULL, "everything as JSON; times are nanoseconds"},
  {OPTION_CSV, "csv", NULL, "the table of events as CSV"},
  {'j', "jobs", "N", "threads that read; default: all cores"},
  {0, NULL, NULL, NULL},
};

const command command_summary;

typedef struct choice {
  job_question question;
  int form; /* OPTION_JSON, OPTION_CSV, or 0 */
  int is_by_given;
  uint64_t top;
  const char *names[PATTERNS_MAX], *cats[PATTERNS_MAX];
} choice;

static int set_pattern(arguments *given, const char **list, int *count) {
  if (*count == PATTERNS_MAX) {
    given->status = arguments_refuse(given, "more than %d patterns", PATTERNS_MAX);
    return 0;
  }
  list[(*count)++] = given->value;
  return 1;
}

/* 0: the option's value is wrong, and given->status says so. */
static int set_option(choice *of, arguments *given, int key) {
  static const char *const words[] = {"name", "file", "process", "thread", "step", NULL};
  uint64_t jobs;
  switch (key) {
    case OPTION_BY: of->is_by_given = 1; return (of->question.by = arguments_choice(given, words)) >= 0;
    case OPTION_FROM: of->question.has_from = 1; return arguments_time(given, &of->question.from_ns);
    case OPTION_TO: of->question.has_to = 1; return arguments_time(given, &of->question.to_ns);
    case OPTION_NAME: return set_pattern(given, of->names, &of->question.name_count);
    case OPTION_CAT: return set_pattern(given, of->cats, &of->question.cat_count);
    case OPTION_TOP: return arguments_number(given, 1, UINT32_MAX, &of->top);
    case 'j':
      if (!arguments_number(given, 1, 1024, &jobs)) return 0;
      of->question.threads = (int)jobs;
      return 1;
    default: of->form = key; return 1;
  }
}

static int run(dft_reader *reader, const choice *of) {
  job *all = calloc(1, sizeof *all);
  progress shown;
  int is_good;
  if (!all) return STATUS_FAILED;
  progress_begin(&shown, "summary", 0, 0);
  all->progress = &shown;
  is_good = job_run(all, reader, &of->question);
  progress_end(&shown);
  if (!is_good) fprintf(stderr, "dftracer summary: no memory left\n");
  else if (!all->all.metadata && !all->all.counters && !all->thread_numbers.count) {
    if (!trouble_print_all(stderr, "dftracer summary: ", reader, 10))
      fprintf(stderr, "dftracer summary: nothing was recorded in what was given: is it a trace?\n");
    is_good = 0;
  } else if (of->form == OPTION_JSON) summary_json(stdout, all);
  else if (of->form == OPTION_CSV) summary_csv(stdout, all);
  else summary_text(stdout, all, (uint32_t)of->top, !of->is_by_given);
  job_free(all);
  free(all);
  return is_good ? STATUS_DONE : STATUS_FAILED;
}

static int run_summary(int argc, char **argv) {
  arguments given = {.command = &command_summary, .argc = argc, .argv = argv};
  choice of = {.top = 15};
  dft_reader *reader;
  int key, result;
  of.question.names = of.names;
  of.question.cats = of.cats;
  of.question.threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
  while ((key = arguments_next(&given)) > 0) {
    if (!set_option(&of, &given, key)) return given.status;
  }
  if (key < 0) return given.status;
  if (!given.count) return arguments_refuse(&given, "which traces? PATH is missing");
  if (of.question.threads < 1) of.question.threads = 1;
  reader = trouble_open("summary", NULL, argv + given.first, given.count);
  if (!reader) return STATUS_FAILED;
  result = run(reader, &of);
  dft_reader_close(reader);
  return result;
}

const command command_summary = {
  .name = "summary",
  .arguments = "PATH...",
  .summary = "where the time went",
  .text =
    "Reads traces, folders of traces and what running or dead processes have not written yet, and says where the time "
    "went: the time of all threads split into regions, I/O calls and what lies outside of both; events by name; I/O by "
    "file and process; of a training, compute, fetching, waiting and overlap. docs/summary.md defines every number.\n\n"
    "  dftracer summary out\n"
    "  dftracer summary --by file --cat POSIX out\n"
    "  dftracer summary --json --from 10s --to 20s out/*.pfw.gz\n",
  .options = options,
  .run = run_summary,
};
