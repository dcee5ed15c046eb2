/* command_validate.c - dftracer validate: checks every rule of the trace format.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/cli/arguments.h"
#include "command/cli/printable.h"
#include "command/cli/progress.h"
#include "command/cli/terminal.h"
#include "command/trace/suffix.h"
#include "command/trace/trouble.h"
#include "lint_rows.h"
#include "lint_text.h"

enum { OPTION_OVERLAP = OPTION_LONG + 1, OPTION_ALL, OPTION_RULES };

static const option options[] = {
  {OPTION_OVERLAP, "overlap", NULL,
   "accept events that overlap others of their thread (T4) or lie outside of their parent (W5), as events with "
   "explicit times may do"},
  {OPTION_ALL, "all", NULL, "print every finding; default: the first 3 of each rule and file"},
  {'w', "no-warnings", NULL, "leave out warnings: rules whose code begins with W"},
  {'q', "quiet", NULL, "print nothing for traces without findings"},
  {OPTION_RULES, "rules", NULL, "list the rules and exit"},
  {0, NULL, NULL, NULL},
};

const command command_validate;

typedef struct validation {
  uint64_t most; /* findings of one rule and file that are printed */
  int accepts_overlap, hides_warnings, is_quiet;
  const char *path;        /* of the file that is checked */
  uint64_t count[RULES];   /* findings in that file */
  uint64_t broken, warned; /* findings in all files */
} validation;

static int is_warning(enum rule rule) {
  return rule_texts[rule].code[0] == 'W';
}

static void report(void *context, enum rule rule, uint64_t line) {
  validation *check = context;
  if (((rule == RULE_OVERLAP || rule == RULE_OUTSIDE) && check->accepts_overlap) ||
      (is_warning(rule) && check->hides_warnings))
    return;
  if (is_warning(rule)) check->warned++;
  else check->broken++;
  if (check->count[rule]++ >= check->most) return;
  if (line)
    printf("%s:%" PRIu64 ": %s %s\n", printable(check->path), line, rule_texts[rule].code, rule_texts[rule].text);
  else printf("%s: %s %s\n", printable(check->path), rule_texts[rule].code, rule_texts[rule].text);
}

static void report_rest(const validation *check) {
  char count[FORMAT_BYTES];
  for (int rule = 0; rule < RULES; rule++) {
    if (check->count[rule] <= check->most) continue;
    printf("%s: %s %s: %s more\n", printable(check->path), rule_texts[rule].code, rule_texts[rule].text,
           format_count(count, check->count[rule] - check->most));
  }
}

/* 0: it cannot be checked. */
static int check_source(validation *check, dft_reader *reader, uint32_t index) {
  dft_source source = {.struct_size = sizeof source};
  findings found = {.report = report, .context = check};
  uint64_t before = check->broken + check->warned;
  char lines[FORMAT_BYTES];
  dft_reader_source(reader, index, &source);
  check->path = source.path;
  if (ends_with(source.path, ".h5")) {
    fprintf(stderr, "dftracer validate: %s: %s\n", printable(source.path), trouble_refusal(source.path));
    return 0;
  }
  memset(check->count, 0, sizeof check->count);
  if (!lint_text(source.path, &found) || !lint_rows(reader, index, &found)) {
    fprintf(stderr, "dftracer validate: %s: %s\n", printable(source.path),
            errno ? trouble_text(errno) : "out of memory");
    return 0;
  }
  report_rest(check);
  dft_reader_source(reader, index, &source);
  if (check->broken + check->warned == before && !check->is_quiet)
    printf("%s: ok, %s lines\n", printable(source.path), format_count(lines, source.lines));
  return 1;
}

/* F1 of a folder: tools read all files *.pfw* in it, so all of them must be traces. */
static void check_folder(validation *check, const char *path) {
  char pattern[4096];
  struct stat facts;
  glob_t names;
  if (stat(path, &facts) != 0 || !S_ISDIR(facts.st_mode)) return;
  snprintf(pattern, sizeof pattern, "%s/*.pfw*", path);
  if (glob(pattern, 0, NULL, &names) != 0) return;
  memset(check->count, 0, sizeof check->count);
  for (size_t i = 0; i < names.gl_pathc; i++) {
    const char *name = names.gl_pathv[i], *end = strrchr(name, '.');
    if (strcmp(end, ".pfw") == 0 || (strcmp(end, ".gz") == 0 && end - name > 4 && memcmp(end - 4, ".pfw", 4) == 0))
      continue;
    check->path = name;
    report(check, RULE_NAME, 0);
  }
  globfree(&names);
}

static int list_rules(void) {
  for (int rule = 0; rule < RULES; rule++) printf("%s  %s\n", rule_texts[rule].code, rule_texts[rule].text);
  return STATUS_DONE;
}

static int check_all(validation *check, dft_reader *reader) {
  dft_source source = {.struct_size = sizeof source};
  progress shown;
  uint64_t done, all;
  int is_good = 1;
  dft_reader_progress(reader, &done, &all);
  progress_begin(&shown, "validate", all, 1);
  for (uint32_t i = 0; i < dft_reader_source_count(reader); i++) {
    is_good &= check_source(check, reader, i);
    if (dft_reader_source(reader, i, &source) == DFT_OK) progress_add(&shown, source.bytes);
  }
  progress_end(&shown);
  return is_good;
}

static int run_validate(int argc, char **argv) {
  arguments given = {.command = &command_validate, .argc = argc, .argv = argv};
  dft_reader_options wanted = {.struct_size = sizeof wanted, .want = DFT_WANT_ARGS | DFT_WANT_LINES, .skip_spools = 1};
  validation check = {.most = 3};
  dft_reader *reader;
  int key, is_good = 1;
  while ((key = arguments_next(&given)) > 0) {
    if (key == OPTION_RULES) return list_rules();
    if (key == OPTION_OVERLAP) check.accepts_overlap = 1;
    if (key == OPTION_ALL) check.most = UINT64_MAX;
    if (key == 'w') check.hides_warnings = 1;
    if (key == 'q') check.is_quiet = 1;
  }
  if (key < 0) return given.status;
  if (!given.count) return arguments_refuse(&given, "no trace given: PATH is missing");
  for (int i = 0; i < given.count; i++) check_folder(&check, argv[given.first + i]);
  reader = trouble_open("validate", &wanted, argv + given.first, given.count);
  if (!reader) return STATUS_FAILED;
  if (dft_reader_problem_count(reader, 0)) is_good = 0; /* some paths do not exist */
  trouble_print_all(stderr, "dftracer validate: ", reader, 10);
  is_good &= check_all(&check, reader);
  dft_reader_close(reader);
  return is_good && !check.broken && fflush(stdout) == 0 ? STATUS_DONE : STATUS_FAILED;
}

const command command_validate = {
  .name = "validate",
  .arguments = "PATH...",
  .summary = "check traces against every rule of the format",
  .text =
    "Checks traces, or all traces in a folder, against the rules of the format. Each finding names the file, the line "
    "and "
    "the rule. Rules whose code begins with W are warnings. The exit status is 0 if no rule is broken, and 1 if one is "
    "broken or a file cannot be read.\n\n"
    "Traces of other tracers break some of these rules. The other commands can read them nevertheless.\n",
  .options = options,
  .run = run_validate,
};
