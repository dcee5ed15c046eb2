/* run.c - dftracer run: runs a program so that it is traced, and tells where the trace is.
 * SPDX-License-Identifier: MIT */
#include <dftracer/sink.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/cli/arguments.h"
#include "launch.h"
#include "outcome.h"
#include "variables.h"

/* As env, timeout and others: what went wrong before the program ran. */
enum { STATUS_OWN = 125, STATUS_FORBIDDEN = 126, STATUS_MISSING = 127 };

#define DEFAULT_FOLDER "traces"
#define DEFAULT_NAME "trace"

enum { KEY_IO = OPTION_LONG + 1, KEY_SINK, KEY_NAME };

static const option options[] = {
  {KEY_IO, "io", "[DIR:...]",
   "record POSIX and STDIO calls too, on files below these folders; without a value: on all files"},
  {'o', "out", "DIR", "the folder for the traces, made if need be; default: " DEFAULT_FOLDER},
  {KEY_SINK, "sink", "SINK|FILE",
   "what writes the traces, as DFTRACER_SINK: the name of a built-in sink, or a shared object"},
  {KEY_NAME, "name", "NAME", "how their names begin: NAME-HOST-PID-...; default: " DEFAULT_NAME},
  {'q', "quiet", NULL, "no line at the end"},
  {0, NULL, NULL, NULL},
};

const command command_run;

typedef struct run {
  const char *out, *sink, *name;
  int32_t rank;
  outcome outcome;
} run;

/* One rank speaks for all. */
static int is_speaker(const run *of) {
  return of->rank <= 0;
}

static int make_folders(char *path) {
  for (char *at = path + 1; *at; at++) {
    if (*at != '/') continue;
    *at = '\0';
    mkdir(path, 0777);
    *at = '/';
  }
  return mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : -1;
}

/* The traces' folder, absolute: the program may go elsewhere. DFTRACER_LOG_FILE counts when no option says otherwise. */
static int choose_place(run *of, char log_file[PATH_MAX]) {
  const char *given = getenv("DFTRACER_LOG_FILE");
  char cwd[PATH_MAX] = "";
  char *slash;
  int len;
  if (!getcwd(cwd, sizeof cwd)) return -1;
  if (!of->out && !of->name && given && *given) {
    len = snprintf(log_file, PATH_MAX, "%s%s%s", given[0] == '/' ? "" : cwd, given[0] == '/' ? "" : "/", given);
  } else {
    const char *out = of->out ? of->out : DEFAULT_FOLDER;
    len = snprintf(log_file, PATH_MAX, "%s%s%s/%s", out[0] == '/' ? "" : cwd, out[0] == '/' ? "" : "/", out,
                   of->name ? of->name : DEFAULT_NAME);
  }
  if (len >= PATH_MAX) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(of->outcome.folder, log_file, PATH_MAX);
  slash = strrchr(of->outcome.folder, '/');
  slash[slash == of->outcome.folder] = '\0';
  return make_folders(of->outcome.folder) == 0 ? access(of->outcome.folder, W_OK | X_OK) : -1;
}

static int set_preload(void) {
  const char *others = getenv("LD_PRELOAD");
  char library[PATH_MAX];
  char *value = NULL;
  int len;
  if (!program_find_preload(library)) {
    fprintf(stderr, "dftracer run: --io needs libdftracer_preload.so, and it is not beside libdftracer_core.so; "
                    "nothing was run (dftracer doctor tells where it was looked for)\n");
    return 0;
  }
  if (strpbrk(library, " :")) {
    fprintf(stderr, "dftracer run: %s cannot be preloaded: its path has a space or a colon; nothing was run\n",
            library);
    return 0;
  }
  len = asprintf(&value, "%s%s%s", library, others && *others ? ":" : "", others ? others : "");
  if (len >= 0) setenv("LD_PRELOAD", value, 1);
  free(value);
  return len >= 0;
}

/* One sink or more, with commas between them: built-in ones, or paths. */
static int is_sinks(const char *names) {
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

static int set_environment(run *of) {
  char log_file[PATH_MAX];
  if (choose_place(of, log_file) != 0) {
    fprintf(stderr,
            "dftracer run: traces cannot be written into %s: %s; nothing was run (--out chooses another folder)\n",
            of->outcome.folder, strerror(errno));
    return 0;
  }
  setenv("DFTRACER_ENABLE", "1", 1);
  setenv("DFTRACER_LOG_FILE", log_file, 1);
  if (of->sink) setenv("DFTRACER_SINK", of->sink, 1);
  if (!of->outcome.io) return 1;
  setenv("DFTRACER_INIT", "PRELOAD", 1);
  setenv("DFTRACER_DATA_DIR", *of->outcome.io ? of->outcome.io : "all", 1);
  return set_preload();
}

/* ---- Before --------------------------------------------------------------------------------------------------------- */

static void tell_unknown(const char *name, const char *nearest, void *context) {
  (void)context;
  fprintf(stderr, "dftracer run: %s is no setting and has no effect%s%s; dftracer config lists them\n", name,
          nearest ? ". Is it to be " : "", nearest ? nearest : "");
}

static void warn(const run *of, const program *what) {
  if (!is_speaker(of)) return;
  variables_each_unknown(tell_unknown, NULL);
  if (what->kind != PROGRAM_FINE) fprintf(stderr, "dftracer run: %s %s\n", what->image, program_text(what->kind));
}

static int refuse(const program *what, const char *word, int error) {
  if (what->path[0] && !program_is_startable(what->kind))
    fprintf(stderr, "dftracer run: %s %s\n", what->image, program_text(what->kind));
  else
    fprintf(stderr, "dftracer run: %s cannot be run: %s%s\n", word, strerror(error),
            error == ENOENT && !strchr(word, '/') ? " in the folders of PATH" : "");
  return error == ENOENT ? STATUS_MISSING : STATUS_FORBIDDEN;
}

static int run_program(run *of, char **argv) {
  program what;
  pid_t pid;
  int status = 0, error;
  program_inspect(&what, argv[0]);
  if (!program_is_startable(what.kind)) return refuse(&what, argv[0], what.kind == PROGRAM_FORBIDDEN ? EACCES : ENOENT);
  if (!set_environment(of)) return STATUS_OWN;
  warn(of, &what);
  if (is_speaker(of)) outcome_begin(&of->outcome);
  error = launch(argv, &pid, &status);
  if (is_speaker(of)) {
    if (!error) outcome_report(&of->outcome, &what);
    outcome_end(&of->outcome);
  }
  if (error) return refuse(&what, argv[0], error);
  if (!is_speaker(of) && WIFSIGNALED(status)) {
    dft_recovery left;
    outcome_recover(of->outcome.folder, &left); /* the other ranks of this node that live are left alone */
  }
  launch_end_like(status);
}

static int run_run(int argc, char **argv) {
  arguments given = {.command = &command_run, .argc = argc, .argv = argv};
  run of = {.rank = dft_rank(), .outcome = {.size = dft_size()}};
  int key;
  while ((key = arguments_next(&given)) > 0) {
    switch (key) {
      case KEY_IO: of.outcome.io = given.value ? given.value : ""; break;
      case 'o': of.out = given.value; break;
      case KEY_SINK: of.sink = given.value; break;
      case KEY_NAME: of.name = given.value; break;
      default: of.outcome.is_quiet = 1;
    }
  }
  if (key < 0) return given.status;
  if (!given.count) return arguments_refuse(&given, "which program? CMD is missing");
  if (of.name && strchr(of.name, '/'))
    return arguments_refuse(&given, "--name: \"%s\" has a slash; --out is for folders", of.name);
  if (of.sink && !is_sinks(of.sink)) {
    char names[256];
    return arguments_refuse(&given, "--sink: \"%s\" is neither a built-in sink (%s) nor the path of a shared object",
                            of.sink, list_sinks(names, sizeof names));
  }
  return run_program(&of, argv + given.first);
}

const command command_run = {
  .name = "run",
  .arguments = "[--] CMD...",
  .summary = "run a program so that it is traced",
  .text = "Runs CMD with tracing on, passes signals on to it, and ends as it ends: with its exit status, or by the "
          "same signal. "
          "Then it publishes what killed processes left, and says on stderr how many events of how many processes are "
          "where. What "
          "is annotated in the program is recorded, and with --io its file operations as well.\n\n"
          "  dftracer run ./solver input.nml\n"
          "  dftracer run --io=/scratch/data --out traces -- python train.py\n"
          "  mpirun -n 4 dftracer run -- ./a.out           # one trace a rank; rank 0 speaks for all\n\n"
          "Programs that cannot be traced are run all the same, after a warning: those linked statically, and those "
          "with raised "
          "privileges. Exit status 125: nothing was run, the traces have no place; 126: CMD may not be run; 127: it is "
          "not there.\n",
  .options = options,
  .is_wrapper = 1,
  .run = run_run,
};
