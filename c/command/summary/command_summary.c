/* command_summary.c - dftracer summary: where the time went.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/cli/arguments.h"
#include "command/cli/printable.h"
#include "command/cli/terminal.h"
#include "command/summary/count/collect.h"
#include "command/summary/state/state_file.h"
#include "command/summary/tally/vocabularyfile.h"
#include "command/summary/verdict/judgement_json.h"
#include "command/summary/verdict/judgement_text.h"
#include "command/trace/spill.h"
#include "command/trace/standin.h"
#include "command/trace/suffix.h"
#include "command/trace/trouble.h"
#include "summary_json.h"
#include "summary_notes.h"
#include "summary_text.h"
#include "timeorigin.h"

#define PATTERNS_MAX 64

enum {
  OPTION_BY = OPTION_LONG + 1,
  OPTION_FROM,
  OPTION_TO,
  OPTION_NAME,
  OPTION_CAT,
  OPTION_CLASSES,
  OPTION_JSON,
  OPTION_CSV,
  OPTION_TOP,
  OPTION_FILES,
  OPTION_MEMORY,
  OPTION_PARTIAL,
  OPTION_RUN,
  OPTION_RULES,
  OPTION_EXPLAIN
};

static const option options[] = {
  {OPTION_BY, "by", "name|file|process|thread|step|rank",
   "group the table of events by this, and leave out the other tables; default: by name, with all tables"},
  {OPTION_RUN, "run", "all|N",
   "which run to show, if the traces are of several: one of those that are listed, or all, added up; default: the "
   "newest"},
  {OPTION_FROM, "from", "TIME",
   "only events that start at or after TIME, such as 10s or 250ms after the start of the run"},
  {OPTION_TO, "to", "TIME", "only events that start before TIME"},
  {OPTION_NAME, "name", "PATTERN",
   "show only events whose name matches, in tables; * and ? are wildcards; may be repeated"},
  {OPTION_CAT, "cat", "PATTERN", "show only events whose category matches, in tables; may be repeated"},
  {OPTION_CLASSES, "classes", "FILE",
   "what names and categories of your own mean: lines `class category name`, such as `compute app solve*`; they come "
   "before the built-in ones. Classes: compute, communication, checkpoint, start-up, frame (encloses work of any "
   "kind), read, write and metadata (I/O), other; for trainings also fetch, data, device, epoch, step, evaluation"},
  {OPTION_TOP, "top", "N", "lines per table; default: 15. JSON and CSV are always complete"},
  {OPTION_FILES, "files", NULL, "list every file; default: files are grouped by folder and by numbers in their names"},
  {OPTION_JSON, "json", NULL, "print everything as JSON; times are nanoseconds"},
  {OPTION_CSV, "csv", NULL, "print the table of events as CSV"},
  {OPTION_RULES, "rules", NULL, "print the rules of the findings with their thresholds, and nothing else"},
  {OPTION_EXPLAIN, "explain", "ID", "print how one rule judges these traces: what it looks at, and whether it is true"},
  {OPTION_PARTIAL, "partial", NULL,
   "instead of printing it, save what was counted as a state, which summary can read and merge"},
  {'o', "output", "FILE", "where to save the state, such as part.dfs"},
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
  int is_single; /* files are not grouped */
  int is_partial;
  const char *output; /* of --partial */
  vocabulary classes; /* that the question points to */
  uint64_t top;
  uint32_t run; /* a number, RUN_ALL or RUN_NEWEST */
  int is_rules;
  const finding_rule *explained; /* of --explain; NULL: none */
} summary_options;

static int set_pattern(arguments *given, const char **list, int *count) {
  if (*count == PATTERNS_MAX) {
    given->status = arguments_refuse(given, "more than %d patterns", PATTERNS_MAX);
    return 0;
  }
  list[(*count)++] = given->value;
  return 1;
}

static int set_run(arguments *given, uint32_t *run) {
  uint64_t number = RUN_ALL;
  if (strcmp(given->value, "all") != 0 && !arguments_number(given, 1, UINT32_MAX - 1, &number)) return 0;
  *run = (uint32_t)number;
  return 1;
}

static int set_explained(arguments *given, const finding_rule **explained) {
  *explained = rule_find(given->value);
  if (!*explained) given->status = arguments_refuse(given, "there is no rule '%s'; --rules lists them", given->value);
  return *explained != NULL;
}

static int set_classes(summary_options *chosen, arguments *given) {
  char problem[1024];
  if (vocabulary_file_load(&chosen->classes, given->value, problem, sizeof problem)) {
    chosen->question.classes = &chosen->classes;
    return 1;
  }
  given->status = arguments_refuse(given, "%s: %s", printable(given->value), problem);
  return 0;
}

/* 0: the option's value is wrong, and given->status says so. */
static int set_option(summary_options *chosen, arguments *given, int key) {
  static const char *const words[] = {"name", "file", "process", "thread", "step", "rank", NULL};
  summary_question *question = &chosen->question;
  uint64_t jobs, memory;
  switch (key) {
    case OPTION_BY: chosen->is_by_given = 1; return (question->by = arguments_choice(given, words)) >= 0;
    case OPTION_FROM: question->has_from = 1; return arguments_time(given, &question->from_ns);
    case OPTION_TO: question->has_to = 1; return arguments_time(given, &question->to_ns);
    case OPTION_NAME: return set_pattern(given, chosen->names, &question->name_count);
    case OPTION_CAT: return set_pattern(given, chosen->cats, &question->cat_count);
    case OPTION_CLASSES: return set_classes(chosen, given);
    case OPTION_TOP: return arguments_number(given, 1, UINT32_MAX, &chosen->top);
    case OPTION_FILES: chosen->is_single = 1; return 1;
    case OPTION_PARTIAL: chosen->is_partial = 1; return 1;
    case OPTION_RUN: return set_run(given, &chosen->run);
    case OPTION_RULES: chosen->is_rules = 1; return 1;
    case OPTION_EXPLAIN: return set_explained(given, &chosen->explained);
    case 'o': chosen->output = given->value; return 1;
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
static int print(const summary_answer *answer, const judgement *made, const summary_options *chosen) {
  const summary_state *state = answer->state;
  const run_list *runs = answer->runs;
  if (!state->metadata && !state->counters && !state->thread_count) {
    summary_print_problems(stderr, "dftracer summary: ", state);
    if (!state->all_problems) fprintf(stderr, "dftracer summary: there is nothing to count: is it a trace?\n");
    return STATUS_FAILED;
  }
  if (chosen->form == OPTION_CSV && runs->count > 1 && runs->shown != RUN_ALL)
    fprintf(stderr, "dftracer summary: these are the events of run %u, one of %u runs; --run all|N chooses\n",
            runs->shown, runs->count);
  if (chosen->explained) judgement_explain(stdout, made, chosen->explained);
  else if (chosen->form == OPTION_JSON) summary_json(stdout, answer, made);
  else if (chosen->form == OPTION_CSV) summary_csv(stdout, answer);
  else
    summary_text(stdout, answer, made, (uint32_t)chosen->top, !chosen->is_by_given && state->question.by == BY_NAME,
                 chosen->is_single);
  return state->all_problems ? STATUS_DAMAGED : STATUS_DONE;
}

static int complain(const char *problem) {
  if (spill_error())
    fprintf(stderr, "dftracer summary: %s: %s; set TMPDIR to a folder with more room\n", printable(spill_folder()),
            strerror(spill_error()));
  else fprintf(stderr, "dftracer summary: %s\n", problem);
  return STATUS_FAILED;
}

/* Why --run cannot be answered. */
static int refuse_run(const run_list *runs, uint32_t run) {
  fprintf(stderr, "dftracer summary: there is no run %u: the traces are of %u run%s%s\n", run, runs->count,
          plural(runs->count), runs->count > 1 ? ", which dftracer summary lists" : "");
  return STATUS_FAILED;
}

/* A verdict is about all events, whatever --name and --cat choose for the tables. NULL: it is made. */
static const char *judge(judgement *made, state_parts *parts, uint32_t run) {
  summary_answer answer = {0};
  summary_state state;
  run_list runs = {0};
  const char *problem = "out of memory";
  state_init(&state);
  state_parts_settle(parts);
  if (parts->is_good && run_list_init(&runs, parts)) problem = run_list_show(&runs, parts, run, &state);
  if (!problem && (!state.is_good || !answer_init(&answer, &state, &runs) || !judgement_make(made, &answer)))
    problem = "out of memory";
  answer_free(&answer);
  run_list_free(&runs);
  state_free(&state);
  return problem;
}

/* `whole`: all events, if `parts` may have less of them; else empty. */
static int answer_question(state_parts *parts, state_parts *whole, const summary_options *chosen) {
  summary_answer answer = {0};
  judgement made = {0};
  summary_state state;
  run_list runs = {0};
  int status;
  state_init(&state);
  state_parts_settle(parts);
  if (!parts->is_good || !run_list_init(&runs, parts)) {
    status = complain("out of memory");
  } else if (chosen->run != RUN_NEWEST && chosen->run > runs.count) {
    status = refuse_run(&runs, chosen->run);
  } else {
    const char *refusal = run_list_show(&runs, parts, chosen->run, &state);
    if (!refusal && (!state.is_good || !answer_init(&answer, &state, &runs))) refusal = "out of memory";
    if (!refusal && whole->count) refusal = judge(&made, whole, chosen->run);
    else if (!refusal && !judgement_make(&made, &answer)) refusal = "out of memory";
    if (refusal) status = complain(refusal);
    else status = print(&answer, &made, chosen);
  }
  judgement_free(&made);
  answer_free(&answer);
  run_list_free(&runs);
  state_free(&state);
  return status;
}

static int save(state_parts *parts, const char *path) {
  outfile out;
  char traces[FORMAT_BYTES], events[FORMAT_BYTES], size[FORMAT_BYTES];
  uint64_t trace_count = 0, event_count = 0, problems = 0;
  int error = outfile_open(&out, path);
  if (!error) {
    state_parts_settle(parts);
    if (parts->is_good) state_save(&out, parts);
    error = outfile_close(&out, parts->is_good);
  }
  for (uint32_t i = 0; i < parts->count; i++) {
    trace_count += parts->states[i].source_count;
    event_count += parts->states[i].events;
    problems += parts->states[i].all_problems;
  }
  if (error) outfile_complain("summary", path, error);
  else if (!parts->is_good) return complain("out of memory");
  else
    printf("%s: %s trace%s, %s event%s, %s\n", printable(path), format_count(traces, trace_count), plural(trace_count),
           format_count(events, event_count), plural(event_count), format_bytes(size, (double)out.bytes));
  if (error) return STATUS_FAILED;
  return problems ? STATUS_DAMAGED : STATUS_DONE;
}

/* ---- Inputs --------------------------------------------------------------------------------------------------------- */

/* Moves the states behind the traces. Returns the number of traces. */
static int part_inputs(char **paths, int count) {
  int traces = 0;
  for (int i = 0; i < count; i++) {
    char *path = paths[i];
    if (ends_with(path, STATE_SUFFIX) || (standin_find(path) && state_is(path))) continue;
    memmove(paths + traces + 1, paths + traces, (size_t)(i - traces) * sizeof *paths);
    paths[traces++] = path;
  }
  return traces;
}

static int read_traces(state_parts *parts, char **paths, int count, const summary_question *question) {
  dft_reader *reader = trouble_open("summary", NULL, paths, count);
  const int is_timed = question->has_from || question->has_to;
  const char *problem = NULL;
  int64_t *origins = NULL;
  progress shown;
  if (!reader) return STATUS_FAILED;
  if (is_timed && !(origins = time_origins(reader, question->threads))) problem = "out of memory";
  progress_begin(&shown, "summary", 0, 0);
  if (!problem) problem = collect_traces(parts, reader, question, origins, &shown);
  progress_end(&shown);
  free(origins);
  dft_reader_close(reader);
  return problem ? complain(problem) : STATUS_DONE;
}

/* Adds a saved state. */
static int read_state(state_parts *parts, const char *path) {
  state_parts others;
  const char *problem;
  state_parts_init(&others);
  problem = state_load(&others, path);
  if (!problem) problem = state_parts_merge(parts, &others);
  if (problem) fprintf(stderr, "dftracer summary: %s: %s\n", printable(standin_name(path)), problem);
  state_parts_free(&others);
  if (problem) return STATUS_FAILED;
  return parts->is_good ? STATUS_DONE : complain("out of memory");
}

static int has_classes(const summary_state *state, const vocabulary *own) {
  char text[1024];
  if (state->question.class_count != own->count) return 0;
  for (uint32_t i = 0; i < own->count; i++) {
    vocabulary_row_text(&own->rows[i], text, sizeof text);
    if (strcmp(state_text_of(state, state->question.classes[i]).text, text) != 0) return 0;
  }
  return 1;
}

/* What the options say must be what the saved states answer. NULL: it is. */
static const char *question_refusal(const summary_state *state, const summary_options *chosen) {
  const summary_question *asked = &chosen->question;
  const state_question *question = &state->question;
  int is_equal = (int)question->name_count == asked->name_count && (int)question->cat_count == asked->cat_count;
  if (chosen->is_by_given && question->by != (uint32_t)asked->by) return "--by";
  if (asked->has_from && !(question->has_from && question->from_ns == asked->from_ns)) return "--from";
  if (asked->has_to && !(question->has_to && question->to_ns == asked->to_ns)) return "--to";
  if (asked->classes && !has_classes(state, asked->classes)) return "--classes";
  if (!asked->name_count && !asked->cat_count) return NULL;
  for (int i = 0; is_equal && i < asked->name_count; i++)
    is_equal = strcmp(state_text_of(state, question->names[i]).text, asked->names[i]) == 0;
  for (int i = 0; is_equal && i < asked->cat_count; i++)
    is_equal = strcmp(state_text_of(state, question->cats[i]).text, asked->cats[i]) == 0;
  return is_equal ? NULL : "--name and --cat";
}

static int read_inputs(state_parts *parts, char **paths, int count, const summary_options *chosen) {
  int traces = part_inputs(paths, count), status = STATUS_DONE;
  const char *refused;
  if (traces) status = read_traces(parts, paths, traces, &chosen->question);
  for (int i = traces; i < count && status == STATUS_DONE; i++) status = read_state(parts, paths[i]);
  for (uint32_t i = 0; i < parts->count && status == STATUS_DONE; i++) {
    if (!training_has_split(&parts->states[i])) continue;
    fprintf(stderr, "dftracer summary: --by step: a trainer and its workers are in different states; make one state of "
                    "their traces\n");
    return STATUS_FAILED;
  }
  if (status != STATUS_DONE || traces || !parts->count) return status;
  refused = question_refusal(&parts->states[0], chosen);
  if (!refused) return STATUS_DONE;
  fprintf(stderr, "dftracer summary: %s: the state was made with another %s; make it again from the traces\n",
          printable(standin_name(paths[0])), refused);
  return STATUS_FAILED;
}

/* Reads the traces again, without --name and --cat. */
static int read_whole(state_parts *parts, char **paths, int count, const summary_options *chosen) {
  summary_question question = chosen->question;
  if (!(question.name_count || question.cat_count) || chosen->is_partial || chosen->form == OPTION_CSV)
    return STATUS_DONE;
  if (part_inputs(paths, count) < count) return STATUS_DONE; /* what a state was not asked for, it does not have */
  question.name_count = question.cat_count = 0;
  return read_traces(parts, paths, count, &question);
}

static int run_summary(int argc, char **argv) {
  arguments given = {.command = &command_summary, .argc = argc, .argv = argv};
  summary_options chosen = {.top = 15, .run = RUN_NEWEST};
  state_parts parts, whole;
  int key, status;
  chosen.question.names = chosen.names;
  chosen.question.cats = chosen.cats;
  chosen.question.threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
  while ((key = arguments_next(&given)) > 0) {
    if (!set_option(&chosen, &given, key)) {
      vocabulary_file_free(&chosen.classes);
      return given.status;
    }
  }
  if (key < 0) return given.status;
  if (chosen.explained && (chosen.form || chosen.is_partial))
    return arguments_refuse(&given, "--explain prints text; the findings of --json have their measures");
  if (chosen.is_rules) {
    if (given.count) return arguments_refuse(&given, "--rules needs no traces; --explain ID judges them by one rule");
    if (chosen.form == OPTION_JSON) judgement_json_rules(stdout);
    else judgement_print_rules(stdout);
    return STATUS_DONE;
  }
  if (!given.count) return arguments_refuse(&given, "no trace given: PATH is missing");
  if (!chosen.is_partial != !chosen.output) return arguments_refuse(&given, "--partial and -o FILE need each other");
  if (chosen.question.threads < 1) chosen.question.threads = 1;
  if (chosen.is_partial && chosen.run != RUN_NEWEST)
    return arguments_refuse(&given, "--partial keeps all runs: choose one with --run when the state is shown");
  if (!standin_for_all("summary", argv + given.first, given.count)) return STATUS_FAILED;
  if (chosen.question.has_from && chosen.question.has_to && chosen.question.to_ns <= chosen.question.from_ns)
    return arguments_refuse(&given, "--to is not after --from: no event begins in between");
  state_parts_init(&parts);
  state_parts_init(&whole);
  status = read_inputs(&parts, argv + given.first, given.count, &chosen);
  if (status == STATUS_DONE) status = read_whole(&whole, argv + given.first, given.count, &chosen);
  if (status == STATUS_DONE)
    status = chosen.is_partial ? save(&parts, chosen.output) : answer_question(&parts, &whole, &chosen);
  state_parts_free(&parts);
  state_parts_free(&whole);
  vocabulary_file_free(&chosen.classes);
  return status;
}

const command command_summary = {
  .name = "summary",
  .arguments = "PATH...",
  .summary = "what bounds a job, and where the time went",
  .text =
    "Reads traces, says what bounds the job, and shows where the time went. PATH is a trace, a folder of traces, the "
    "spool of a process that is still running or has died, a file in Chrome's format, such as torch.profiler's, or a "
    "state that was saved with --partial; -: stdin.\n\n"
    "The first lines say what takes most of the time besides compute, why, how much time that is, and what to try "
    "next. The findings below them are all that is worth a look; --rules prints what is looked for, and --explain how "
    "a rule judges these traces.\n\n"
    "The summary splits the time of all threads into regions, I/O calls and the rest. It lists events by name, "
    "and I/O by file "
    "and by process. For a training run, it shows the time of compute and fetch, the time spent waiting for data, "
    "and how much of "
    "the loading overlaps with compute. docs/summary.md defines every number. Exit status 3: the traces are damaged, "
    "and the numbers are those of what could be "
    "read.\n\n"
    "  dftracer summary out\n"
    "  dftracer summary --by file --cat POSIX out\n"
    "  dftracer summary --json --from 10s --to 20s out/*.pfw.gz\n"
    "  dftracer summary --partial -o node1.dfs out1\n"
    "  dftracer summary node1.dfs node2.dfs\n",
  .options = options,
  .run = run_summary,
};
