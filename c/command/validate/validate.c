/* validate.c - dftracer validate: every rule of the trace format.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/cli/arguments.h"
#include "command/cli/progress.h"
#include "command/cli/terminal.h"
#include "command/trace/suffix.h"
#include "command/trace/trouble.h"
#include "rules.h"

enum { OPTION_OVERLAP = OPTION_LONG + 1, OPTION_ALL, OPTION_RULES };

static const option options[] = {
  {OPTION_OVERLAP, "overlap", NULL,
   "accept events of one thread that overlap (T4) or lie outside of their parent: explicit times are written as given"},
  {OPTION_ALL, "all", NULL, "print every finding; otherwise the first 3 of each rule and file"},
  {'w', "no-warnings", NULL, "leave out rules whose code begins with W"},
  {'q', "quiet", NULL, "say nothing of traces without a finding"},
  {OPTION_RULES, "rules", NULL, "list the rules and end"},
  {0, NULL, NULL, NULL},
};

const command command_validate;

typedef struct check {
  const char *path;
  uint64_t most; /* findings of one rule that are printed */
  int accepts_overlap, hides_warnings, is_quiet;
  uint64_t shown[RULES];
  findings found;
  uint64_t broken, warned; /* findings in all files */
} check;

static int is_warning(enum rule rule) {
  return rule_texts[rule].code[0] == 'W';
}

static void tell(void *context, enum rule rule, uint64_t line) {
  check *of = context;
  if (((rule == RULE_OVERLAP || rule == RULE_OUTSIDE) && of->accepts_overlap) ||
      (is_warning(rule) && of->hides_warnings))
    return;
  if (is_warning(rule)) of->warned++;
  else of->broken++;
  if (of->shown[rule]++ >= of->most) return;
  if (line) printf("%s:%" PRIu64 ": %s %s\n", of->path, line, rule_texts[rule].code, rule_texts[rule].text);
  else printf("%s: %s %s\n", of->path, rule_texts[rule].code, rule_texts[rule].text);
}

static void tell_of_more(const check *of) {
  char count[FORMAT_BYTES];
  for (int rule = 0; rule < RULES; rule++) {
    if (of->shown[rule] <= of->most) continue;
    printf("%s: %s %s: %s more\n", of->path, rule_texts[rule].code, rule_texts[rule].text,
           format_count(count, of->shown[rule] - of->most));
  }
}

/* 0: it cannot be judged. */
static int check_source(check *of, dft_reader *reader, uint32_t index) {
  dft_source source = {.struct_size = sizeof source};
  uint64_t before = of->broken + of->warned;
  char lines[FORMAT_BYTES];
  dft_reader_source(reader, index, &source);
  of->path = source.path;
  if (ends_with(source.path, ".h5")) {
    fprintf(stderr, "dftracer validate: %s: %s\n", source.path, trouble_refusal(source.path));
    return 0;
  }
  memset(of->shown, 0, sizeof of->shown);
  of->found = (findings){.tell = tell, .context = of};
  if (!lint_text(source.path, &of->found) || !lint_rows(reader, index, &of->found)) {
    fprintf(stderr, "dftracer validate: %s: %s\n", source.path, errno ? trouble_text(errno) : "no memory left");
    return 0;
  }
  tell_of_more(of);
  dft_reader_source(reader, index, &source);
  if (of->broken + of->warned == before && !of->is_quiet)
    printf("%s: ok, %s lines\n", source.path, format_count(lines, source.lines));
  return 1;
}

/* F1 of a folder: tools that look for *.pfw* find nothing else in it. */
static void check_folder(check *of, const char *path) {
  char pattern[4096];
  struct stat facts;
  glob_t names;
  if (stat(path, &facts) != 0 || !S_ISDIR(facts.st_mode)) return;
  snprintf(pattern, sizeof pattern, "%s/*.pfw*", path);
  if (glob(pattern, 0, NULL, &names) != 0) return;
  memset(of->shown, 0, sizeof of->shown);
  for (size_t i = 0; i < names.gl_pathc; i++) {
    const char *name = names.gl_pathv[i], *end = strrchr(name, '.');
    if (strcmp(end, ".pfw") == 0 || (strcmp(end, ".gz") == 0 && end - name > 4 && memcmp(end - 4, ".pfw", 4) == 0))
      continue;
    of->path = name;
    tell(of, RULE_NAME, 0);
  }
  globfree(&names);
}

static int list_rules(void) {
  for (int rule = 0; rule < RULES; rule++) printf("%s  %s\n", rule_texts[rule].code, rule_texts[rule].text);
  return STATUS_DONE;
}

static int check_all(check *of, dft_reader *reader) {
  dft_source source = {.struct_size = sizeof source};
  progress shown;
  uint64_t done, all;
  int is_good = 1;
  dft_reader_progress(reader, &done, &all);
  progress_begin(&shown, "validate", all, 1);
  for (uint32_t i = 0; i < dft_reader_source_count(reader); i++) {
    is_good &= check_source(of, reader, i);
    if (dft_reader_source(reader, i, &source) == DFT_OK) progress_add(&shown, source.bytes);
  }
  progress_end(&shown);
  return is_good;
}

static int run_validate(int argc, char **argv) {
  arguments given = {.command = &command_validate, .argc = argc, .argv = argv};
  dft_reader_options wanted = {.struct_size = sizeof wanted, .want = DFT_WANT_ARGS | DFT_WANT_LINES, .skip_spools = 1};
  check of = {.most = 3};
  dft_reader *reader;
  int key, is_good = 1;
  while ((key = arguments_next(&given)) > 0) {
    if (key == OPTION_RULES) return list_rules();
    if (key == OPTION_OVERLAP) of.accepts_overlap = 1;
    if (key == OPTION_ALL) of.most = UINT64_MAX;
    if (key == 'w') of.hides_warnings = 1;
    if (key == 'q') of.is_quiet = 1;
  }
  if (key < 0) return given.status;
  if (!given.count) return arguments_refuse(&given, "which traces? PATH is missing");
  for (int i = 0; i < given.count; i++) check_folder(&of, argv[given.first + i]);
  reader = trouble_open("validate", &wanted, argv + given.first, given.count);
  if (!reader) return STATUS_FAILED;
  if (dft_reader_problem_count(reader, 0)) is_good = 0; /* paths that do not exist */
  trouble_print_all(stderr, "dftracer validate: ", reader, 10);
  is_good &= check_all(&of, reader);
  dft_reader_close(reader);
  return is_good && !of.broken && fflush(stdout) == 0 ? STATUS_DONE : STATUS_FAILED;
}

const command command_validate = {
  .name = "validate",
  .arguments = "PATH...",
  .summary = "check traces against every rule of the format",
  .text =
    "Checks files and folders of traces against the rules that the tools of this field need, and names file, line and "
    "rule. Codes beginning with W are warnings. Exit status: 0 no rule is broken, 1 one is, or a file cannot be "
    "read.\n\n"
    "Traces of other tracers break some of these rules; dftracer reads them all the same.\n",
  .options = options,
  .run = run_validate,
};
