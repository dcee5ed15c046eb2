/* command_run.c - dftracer run: runs a program with tracing on, and reports where its trace is.
 * SPDX-License-Identifier: MIT */
#include <dftracer/sink.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/cli/arguments.h"
#include "command/cli/printable.h"
#include "launch.h"
#include "outcome.h"
#include "variables.h"

/* What went wrong before the program ran, with the numbers that env, timeout and others use. */
enum { STATUS_OWN = 125, STATUS_FORBIDDEN = 126, STATUS_MISSING = 127 };

#define DEFAULT_FOLDER "traces"
#define DEFAULT_NAME "trace"

enum { KEY_IO = OPTION_LONG + 1, KEY_NVTX, KEY_SINK, KEY_NAME };

static const option options[] = {
  {KEY_IO, "io", "[DIR:...]",
   "also record POSIX, STDIO and MPI calls; of those on files, the ones in these folders; without a value, all"},
  {KEY_NVTX, "nvtx", NULL, "also record the ranges and marks of programs that are annotated for NVTX"},
  {'o', "out", "DIR", "write the traces to this folder, which is created if needed; default: " DEFAULT_FOLDER},
  {KEY_SINK, "sink", "SINK|FILE",
   "the format of the traces, as DFTRACER_SINK: the name of a built-in sink, or the path of a shared object"},
  {KEY_NAME, "name", "NAME", "start the names of the traces with NAME: NAME-HOST-PID-...; default: " DEFAULT_NAME},
  {'q', "quiet", NULL, "do not print the summary line"},
  {0, NULL, NULL, NULL},
};

const command command_run;

typedef struct run_plan {
  const char *out, *sink, *name; /* the options; NULL: not given */
  int32_t rank;
  outcome outcome;
} run_plan;

/* Only rank 0 prints warnings and the summary line; so does a process that is not part of an MPI job. */
static int is_reporter(const run_plan *plan) {
  return plan->rank <= 0;
}

/* ---- The environment of the program ----------------------------------------------------------------------------------- */

/* Zero, with errno, unless this is a folder in which files can be made. */
static int is_usable(const char *path) {
  struct stat facts;
  if (stat(path, &facts) != 0) return 0;
  errno = ENOTDIR;
  return S_ISDIR(facts.st_mode) && access(path, W_OK | X_OK) == 0;
}

/* Zero, with errno, when the folder cannot be made. */
static int make_folders(char *path) {
  for (char *slash = path + 1; *slash; slash++) {
    if (*slash != '/') continue;
    *slash = '\0';
    mkdir(path, 0777);
    *slash = '/';
  }
  return mkdir(path, 0777) == 0 || errno == EEXIST;
}

/* Makes the path absolute, because the program may change its folder. Options override DFTRACER_LOG_FILE.
 * Zero, with errno, when the folder cannot be used. */
static int choose_place(run_plan *plan, char log_file[PATH_MAX]) {
  const char *given = getenv("DFTRACER_LOG_FILE");
  char cwd[PATH_MAX] = "";
  char *slash;
  int len;
  snprintf(plan->outcome.folder, PATH_MAX, "%s",
           plan->out ? plan->out : DEFAULT_FOLDER); /* for messages, until it is known */
  if (!getcwd(cwd, sizeof cwd)) return 0;
  if (!plan->out && !plan->name && given && *given) {
    len = snprintf(log_file, PATH_MAX, "%s%s%s", given[0] == '/' ? "" : cwd, given[0] == '/' ? "" : "/", given);
  } else {
    const char *out = plan->out ? plan->out : DEFAULT_FOLDER;
    len = snprintf(log_file, PATH_MAX, "%s%s%s/%s", out[0] == '/' ? "" : cwd, out[0] == '/' ? "" : "/", out,
                   plan->name ? plan->name : DEFAULT_NAME);
  }
  if (len >= PATH_MAX) {
    errno = ENAMETOOLONG;
    return 0;
  }
  memcpy(plan->outcome.folder, log_file, PATH_MAX);
  slash = strrchr(plan->outcome.folder, '/');
  slash[slash == plan->outcome.folder] = '\0';
  return make_folders(plan->outcome.folder) && is_usable(plan->outcome.folder);
}

static void complain_place(const char *folder, int error) {
  const char *advice = "choose another folder with --out";
  struct stat facts;
  if (stat(folder, &facts) == 0 && !S_ISDIR(facts.st_mode)) advice = "it is a file; choose a folder with --out";
  else if (lstat(folder, &facts) == 0 && S_ISLNK(facts.st_mode) && error == ENOENT)
    advice = "it is a link to a folder that does not exist; create that folder, or choose another one with --out";
  fprintf(stderr, "dftracer run: did not run the program: cannot write traces to %s: %s; %s\n", printable(folder),
          strerror(error), advice);
}

static int set_preload(void) {
  const char *others = getenv("LD_PRELOAD");
  char library[PATH_MAX];
  char *value = NULL;
  int len;
  if (!program_find_own(PROGRAM_PRELOAD, library)) {
    fprintf(stderr, "dftracer run: did not run the program: --io needs libdftracer_preload.so, which is not beside "
                    "libdftracer_core.so; see 'dftracer doctor --io'\n");
    return 0;
  }
  if (strpbrk(library, " :")) {
    fprintf(stderr,
            "dftracer run: did not run the program: cannot preload %s, because its path contains a space or a colon; "
            "install it elsewhere\n",
            printable(library));
    return 0;
  }
  len = asprintf(&value, "%s%s%s", library, others && *others ? ":" : "", others ? others : "");
  if (len >= 0) setenv("LD_PRELOAD", value, 1);
  free(value);
  return len >= 0;
}

/* NVTX takes one library. If the user has named another one, such as a profiler's, that stays. */
static int set_nvtx(const run_plan *plan) {
  const char *given = getenv("NVTX_INJECTION64_PATH");
  char library[PATH_MAX];
  if (!program_find_own(PROGRAM_NVTX, library)) {
    fprintf(stderr, "dftracer run: did not run the program: --nvtx needs " PROGRAM_NVTX ", which is not beside "
                    "libdftracer_core.so; see 'dftracer doctor --nvtx'\n");
    return 0;
  }
  if (!given || !*given) return setenv("NVTX_INJECTION64_PATH", library, 1) == 0;
  if (strcmp(given, library) != 0 && is_reporter(plan))
    fprintf(stderr,
            "dftracer run: --nvtx has no effect: NVTX_INJECTION64_PATH is set to %s, and NVTX takes only one library; "
            "unset it to record NVTX ranges\n",
            printable(given));
  return 1;
}

/* Python programs start our package by it, where no .pth file does: in a folder of PYTHONPATH. */
static void set_python_start(void) {
  const char *others = getenv("PYTHONPATH");
  char folder[PATH_MAX];
  char *value = NULL;
  if (!program_find_start(folder)) return;
  if (asprintf(&value, "%s%s%s", folder, others && *others ? ":" : "", others ? others : "") < 0) return;
  setenv("PYTHONPATH", value, 1);
  free(value);
}

/* Whether this is a list of sinks, separated by commas: built-in ones, or paths. */
static int is_sink_list(const char *names) {
  while (*names) {
    size_t len = strcspn(names, ","), name_len = strcspn(names, ",:"); /* options follow a colon */
    int is_known = memchr(names, '/', len) != NULL;
    const dft_sink *sink;
    for (size_t i = 0; !is_known && (sink = dft_sink_built_in(i)) != NULL; i++)
      is_known = strlen(sink->name) == name_len && memcmp(sink->name, names, name_len) == 0;
    if (!is_known) return 0;
    names += len + (names[len] == ',');
  }
  return 1;
}

static const char *list_sinks(char *names, size_t size) {
  const dft_sink *sink;
  size_t len = 0;
  names[0] = '\0';
  for (size_t i = 0; (sink = dft_sink_built_in(i)) != NULL && len < size; i++)
    len += (size_t)snprintf(names + len, size - len, "%s%s", i ? ", " : "", sink->name);
  return names;
}

/* The ranks of a launch find theirs out (base/run.h). */
static void set_run_id(const run_plan *plan) {
  unsigned long long number;
  char text[32];
  if ((plan->rank >= 0 && plan->outcome.size != 1) || getrandom(&number, sizeof number, GRND_NONBLOCK) < 0) return;
  snprintf(text, sizeof text, "%016llx", number);
  setenv("DFTRACER_RUN_ID", text, 0);
}

static int set_environment(run_plan *plan) {
  char log_file[PATH_MAX];
  if (!choose_place(plan, log_file)) {
    complain_place(plan->outcome.folder, errno);
    return 0;
  }
  setenv("DFTRACER_ENABLE", "1", 1);
  setenv("DFTRACER_LOG_FILE", log_file, 1);
  if (plan->sink) setenv("DFTRACER_SINK", plan->sink, 1);
  set_run_id(plan);
  set_python_start();
  if (plan->outcome.with_nvtx && !set_nvtx(plan)) return 0;
  if (!plan->outcome.io) return 1;
  setenv("DFTRACER_INIT", "PRELOAD", 1);
  setenv("DFTRACER_DATA_DIR", *plan->outcome.io ? plan->outcome.io : "all", 1);
  return set_preload();
}

/* ---- The program ------------------------------------------------------------------------------------------------------ */

static void warn_unknown(const char *name, const char *nearest, void *context) {
  (void)context;
  fprintf(stderr, "dftracer run: %s is not a setting and has no effect", printable(name));
  if (nearest) fprintf(stderr, "; did you mean %s? See 'dftracer config'\n", nearest);
  else fprintf(stderr, "; see 'dftracer config'\n");
}

static void warn_missing(const char *folder, void *context) {
  (void)context;
  fprintf(stderr, "dftracer run: the folder %s does not exist; no call is recorded below it unless CMD makes it\n",
          printable(folder));
}

static void warn(const run_plan *plan, const program *target) {
  variables_each_unknown(warn_unknown, NULL);
  if (plan->outcome.io) variables_each_missing(plan->outcome.io, warn_missing, NULL);
  if (target->kind != PROGRAM_FINE)
    fprintf(stderr, "dftracer run: %s %s\n", printable(target->image), program_text(target->kind));
}

static int refuse(const run_plan *plan, const program *target, const char *word, int error) {
  const char *io = plan->outcome.io;
  if (target->kind == PROGRAM_FOLDER && io && !*io)
    fprintf(stderr, "dftracer run: %s %s: to record what happens in it, write --io=%s\n", printable(word),
            program_text(target->kind), printable(word));
  else if (target->kind == PROGRAM_FOLDER)
    fprintf(stderr, "dftracer run: %s %s\n", printable(word), program_text(target->kind));
  else if (target->path[0] && !program_is_startable(target->kind))
    fprintf(stderr, "dftracer run: %s %s\n", printable(target->image), program_text(target->kind));
  else
    fprintf(stderr, "dftracer run: cannot run %s: %s%s\n", printable(word), strerror(error),
            error == ENOENT && !strchr(word, '/') ? " on PATH" : "");
  return error == ENOENT ? STATUS_MISSING : STATUS_FORBIDDEN;
}

static int run_program(run_plan *plan, char **argv) {
  program target;
  pid_t pid;
  int status = 0, error;
  program_inspect(&target, argv[0]);
  if (!program_is_startable(target.kind))
    return refuse(plan, &target, argv[0],
                  target.kind == PROGRAM_FORBIDDEN || target.kind == PROGRAM_FOLDER ? EACCES : ENOENT);
  if (!set_environment(plan)) return STATUS_OWN;
  if (is_reporter(plan)) {
    warn(plan, &target);
    outcome_begin(&plan->outcome);
  }
  error = launch(argv, &pid, &status);
  if (is_reporter(plan)) {
    if (!error) outcome_report(&plan->outcome, &target);
    outcome_end(&plan->outcome);
  }
  if (error) return refuse(plan, &target, argv[0], error);
  if (!is_reporter(plan) && WIFSIGNALED(status)) {
    dft_recovery report;
    outcome_recover(plan->outcome.folder, &report); /* living ranks of this node are left alone */
  }
  launch_end_like(status);
}

static int run_run(int argc, char **argv) {
  arguments given = {.command = &command_run, .argc = argc, .argv = argv};
  run_plan plan = {.rank = dft_rank(), .outcome = {.size = dft_size()}};
  int key;
  while ((key = arguments_next(&given)) > 0) {
    switch (key) {
      case KEY_IO: plan.outcome.io = given.value ? given.value : ""; break;
      case KEY_NVTX: plan.outcome.with_nvtx = 1; break;
      case 'o': plan.out = given.value; break;
      case KEY_SINK: plan.sink = given.value; break;
      case KEY_NAME: plan.name = given.value; break;
      default: plan.outcome.is_quiet = 1;
    }
  }
  if (key < 0) return given.status;
  if (!given.count) return arguments_refuse(&given, "no program given: CMD is missing");
  if (plan.out && (!*plan.out || strcmp(plan.out, "-") == 0))
    return arguments_refuse(&given, "--out: \"%s\" is not a folder; traces are files", plan.out);
  if (plan.name && strchr(plan.name, '/'))
    return arguments_refuse(&given, "--name: \"%s\" contains a slash; use --out to choose the folder", plan.name);
  if (plan.sink && !is_sink_list(plan.sink)) {
    char names[256];
    return arguments_refuse(&given, "--sink: \"%s\" is neither a built-in sink (%s) nor the path of a shared object",
                            plan.sink, list_sinks(names, sizeof names));
  }
  return run_program(&plan, argv + given.first);
}

const command command_run = {
  .name = "run",
  .arguments = "[--] CMD...",
  .summary = "run a program with tracing on",
  .text =
    "Runs CMD with tracing on. Records the events of its annotations and trainings of Python frameworks (PyTorch and "
    "what is built on it); with --io also its I/O calls, and with --nvtx its NVTX ranges. Forwards signals "
    "to CMD, and ends the way CMD ends: with the same exit status, or by the same signal. At the end it recovers the "
    "traces of processes that were killed, and prints a summary line on stderr: the number of events and processes, "
    "and "
    "the folder of the traces.\n\n"
    "  dftracer run ./solver input.nml\n"
    "  dftracer run --io=/scratch/data --out traces -- python train.py\n"
    "  mpirun -n 4 dftracer run -- ./a.out\n\n"
    "With MPI, each rank writes a trace of its own, and only rank 0 prints the summary line.\n\n"
    "Programs that cannot be traced still run, after a warning: statically linked ones, and those with raised "
    "privileges. "
    "Exit status 125: CMD did not run, because the traces cannot be written or a library is missing; 126: CMD cannot "
    "be "
    "executed; 127: CMD does not exist.\n",
  .options = options,
  .is_wrapper = 1,
  .run = run_run,
};
