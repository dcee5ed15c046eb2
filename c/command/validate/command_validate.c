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
#include "command/trace/chromefile.h"
#include "command/trace/standin.h"
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
  int is_nameless;         /* stdin is checked */
  FILE *out;               /* the findings in one file, until it is known whether it can be read */
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
      (is_warning(rule) && check->hides_warnings) || (rule == RULE_NAME && check->is_nameless))
    return;
  if (is_warning(rule)) check->warned++;
  else check->broken++;
  if (check->count[rule]++ >= check->most) return;
  if (line)
    fprintf(check->out, "%s:%" PRIu64 ": %s %s\n", printable(check->path), line, rule_texts[rule].code,
            rule_texts[rule].text);
  else fprintf(check->out, "%s: %s %s\n", printable(check->path), rule_texts[rule].code, rule_texts[rule].text);
}

static void report_rest(const validation *check) {
  char count[FORMAT_BYTES];
  for (int rule = 0; rule < RULES; rule++) {
    if (check->count[rule] <= check->most) continue;
    fprintf(check->out, "%s: %s %s: %s more\n", printable(check->path), rule_texts[rule].code, rule_texts[rule].text,
            format_count(count, check->count[rule] - check->most));
  }
}

/* What Perfetto's importer makes of a file with these findings; NULL: all of it. */
static const char *perfetto_loss(const validation *check) {
  if (check->count[RULE_MEMBER_DAMAGED] || check->count[RULE_BYTES_BEHIND]) return "Perfetto refuses it: it is damaged";
  if (check->count[RULE_JSON] > check->count[RULE_TORN]) return "Perfetto refuses it: a line is not JSON";
  if (check->count[RULE_FIRST_LINE]) return "Perfetto shows nothing of it: the first line is not [";
  if (check->count[RULE_PHASE]) return "Perfetto skips events whose ph is a number";
  return NULL;
}

/* Findings say little to somebody who only wants to use the file, so they follow this line. */
static void print_use(const validation *check, const dft_source *source) {
  char lines[FORMAT_BYTES], problems[FORMAT_BYTES];
  const char *loss = perfetto_loss(check);
  printf("%s: ", printable(check->path));
  if (!source->rows) printf("cannot be read: none of its lines is an event");
  else if (!source->problems) printf("can be read: dftracer reads all %s lines", format_count(lines, source->lines));
  else
    printf("can be read in part: dftracer reads %s line%s and skips %s damaged part%s",
           format_count(lines, source->rows), plural(source->rows), format_count(problems, source->problems),
           plural(source->problems));
  printf("; %s\n", loss ? loss : "Perfetto opens it");
}

static void print_findings(FILE *from) {
  char piece[4096];
  size_t len;
  rewind(from);
  while ((len = fread(piece, 1, sizeof piece, from)) > 0) fwrite(piece, 1, len, stdout);
}

/* Another format, to which these rules do not apply. */
static int is_chrome(const char *path) {
  if (!chromefile_is(path, standin_find(path) ? NULL : path)) return 0;
  printf("%s: not a trace but a file in Chrome's format; dftracer summary, info, cat, convert and merge read it, and "
         "Perfetto opens it\n",
         printable(standin_name(path)));
  return 1;
}

/* 0: it cannot be checked. */
static int check_source(validation *check, dft_reader *reader, uint32_t index) {
  dft_source source = {.struct_size = sizeof source};
  findings found = {.report = report, .context = check};
  uint64_t before = check->broken + check->warned;
  char lines[FORMAT_BYTES];
  int is_good;
  dft_reader_source(reader, index, &source);
  check->path = standin_name(source.path);
  check->is_nameless = standin_find(source.path) != NULL;
  if (ends_with(source.path, ".h5")) {
    fprintf(stderr, "dftracer validate: %s: %s\n", printable(source.path), trouble_refusal(source.path));
    return 0;
  }
  if (is_chrome(source.path)) return 0;
  memset(check->count, 0, sizeof check->count);
  errno = 0;
  check->out = tmpfile();
  is_good = check->out && lint_text(source.path, &found) && lint_rows(reader, index, &found);
  if (is_good) {
    report_rest(check);
    dft_reader_source(reader, index, &source);
    if (check->broken + check->warned != before) print_use(check, &source);
    else if (!check->is_quiet) printf("%s: ok, %s lines\n", printable(check->path), format_count(lines, source.lines));
  } else {
    fprintf(stderr, "dftracer validate: %s: %s\n", printable(check->path),
            errno ? trouble_text(errno) : "out of memory");
  }
  if (check->out) {
    print_findings(check->out);
    fclose(check->out);
  }
  check->out = stdout;
  return is_good;
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
  validation check = {.most = 3, .out = stdout};
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
  for (int i = 0; i < given.count; i++) {
    if (!standin_for_stdin("validate", &argv[given.first + i])) return STATUS_FAILED;
  }
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
    "Traces of other tracers break some of these rules. The first line of each such file says whether dftracer and "
    "Perfetto can read it nevertheless. PATH may be - for stdin.\n",
  .options = options,
  .run = run_validate,
};
