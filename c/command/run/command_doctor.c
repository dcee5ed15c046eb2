/* command_doctor.c - dftracer doctor: checks the installation, and whether a program can be traced.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "command/cli/arguments.h"
#include "command/cli/printable.h"
#include "command/cli/terminal.h"
#include "mpifamily.h"
#include "program.h"
#include "pythonpackage.h"
#include "variables.h"

#define FREE_LEAST 64e6 /* bytes; with less, traces would soon be cut short */

enum { KEY_IO = OPTION_LONG + 1, KEY_NVTX };

static const option options[] = {
  {KEY_IO, "io", NULL, "also check whether POSIX, STDIO and MPI calls can be recorded, as 'dftracer run --io' does"},
  {KEY_NVTX, "nvtx", NULL, "also check whether NVTX ranges can be recorded, as 'dftracer run --nvtx' does"},
  {0, NULL, NULL, NULL},
};

const command command_doctor;

typedef struct checkup {
  int is_coloured;
  int with_io, with_nvtx;
  int bad_count; /* findings that keep events from being recorded */
} checkup;

enum verdict { FINE, NOTE, BAD };

/* Prints one line: a verdict, and what was found. */
__attribute__((format(printf, 3, 4))) static void report(checkup *state, enum verdict verdict, const char *format,
                                                         ...) {
  static const struct {
    const char *word, *colour;
  } looks[] = {{"ok  ", "\033[32m"}, {"note", "\033[33m"}, {"BAD ", "\033[1;31m"}};
  char text[3 * PATH_MAX];
  va_list list;
  state->bad_count += verdict == BAD;
  printf("%s%s%s  ", state->is_coloured ? looks[verdict].colour : "", looks[verdict].word,
         state->is_coloured ? "\033[0m" : "");
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  printf("%s\n", printable(text));
}

/* ---- The installation ----------------------------------------------------------------------------------------------- */

static void check_library(checkup *state) {
  char path[PATH_MAX];
  program_core(path);
  if (strcmp(dft_version(), DFT_VERSION) == 0) report(state, FINE, "libdftracer_core %s: %s", dft_version(), path);
  else
    report(state, BAD, "libdftracer_core is version %s, but this command is %s: %s belongs to another installation",
           dft_version(), DFT_VERSION, path);
}

static void check_preload(checkup *state) {
  char path[PATH_MAX];
  if (!program_find_own(PROGRAM_PRELOAD, path)) {
    report(state, state->with_io ? BAD : NOTE,
           "libdftracer_preload.so is missing: 'dftracer run --io' needs it in the folder of libdftracer_core.so");
  } else if (strpbrk(path, " :")) {
    report(state, BAD, "%s cannot be preloaded, because its path contains a space or a colon", path);
  } else {
    report(state, FINE, "libdftracer_preload.so, for run --io: %s", path);
  }
}

static void check_nvtx(checkup *state) {
  const char *given = getenv("NVTX_INJECTION64_PATH");
  char path[PATH_MAX];
  if (!program_find_own(PROGRAM_NVTX, path)) {
    report(state, state->with_nvtx ? BAD : NOTE,
           PROGRAM_NVTX " is missing: 'dftracer run --nvtx' needs it in the folder of libdftracer_core.so");
  } else if (given && *given && strcmp(given, path) != 0) {
    report(state, state->with_nvtx ? BAD : NOTE,
           "NVTX ranges go to another tool: NVTX_INJECTION64_PATH is set to %s; unset it to use 'dftracer run --nvtx'",
           given);
  } else {
    report(state, FINE, PROGRAM_NVTX ", for run --nvtx: %s", path);
  }
}

/* Wrong values of known settings were already reported on stderr, when they were read. */
static void report_unknown(const char *name, const char *nearest, void *context) {
  if (nearest)
    report(context, NOTE, "%s is set, but is not a setting; did you mean %s? See 'dftracer config'", name, nearest);
  else report(context, NOTE, "%s is set, but is not a setting; see 'dftracer config'", name);
}

static void report_missing(const char *folder, void *context) {
  report(context, NOTE, "the folder %s of DFTRACER_DATA_DIR does not exist: no call is recorded below it", folder);
}

static void check_folder(checkup *state) {
  char folder[PATH_MAX], free_text[FORMAT_BYTES];
  const char *given = getenv("DFTRACER_LOG_FILE");
  struct statvfs disk;
  char *slash;
  dft_config_get("DFTRACER_LOG_FILE", folder, sizeof folder);
  slash = strrchr(folder, '/');
  if (slash) slash[slash == folder] = '\0';
  else memcpy(folder, ".", 2);
  if (access(folder, F_OK) != 0) {
    report(state, NOTE, "the folder for traces, %s, does not exist yet; it will be created", folder);
  } else if (access(folder, W_OK | X_OK) != 0) {
    report(state, BAD, "cannot write traces to %s: %s; choose another folder with DFTRACER_LOG_FILE or run --out",
           folder, strerror(errno));
  } else if (statvfs(folder, &disk) == 0) {
    double bytes = (double)disk.f_bavail * (double)disk.f_frsize;
    report(state, bytes < FREE_LEAST ? BAD : FINE, "traces go to %s%s, which has %s free", folder,
           given && *given ? "" : ", those of 'dftracer run' to its folder traces", format_bytes(free_text, bytes));
  }
}

static void check_switch(checkup *state) {
  char value[PATH_MAX];
  dft_config_get("DFTRACER_ENABLE", value, sizeof value);
  if (strcmp(value, "1") == 0)
    report(state, FINE, "DFTRACER_ENABLE is 1: programs are traced however they are started");
  else report(state, NOTE, "DFTRACER_ENABLE is not set: programs are traced only by 'dftracer run'");
}

/* ---- The program ---------------------------------------------------------------------------------------------------- */

static void report_unlinked(checkup *state, const program *target) {
  if (state->with_io || state->with_nvtx) {
    report(state, NOTE, "%s does not link libdftracer_core: only its %s%s%s will be recorded", target->image,
           state->with_io ? "I/O calls" : "", state->with_io && state->with_nvtx ? " and " : "",
           state->with_nvtx ? "NVTX ranges" : "");
  } else if (program_is_interpreter(target)) {
    report(state, NOTE, "%s is an interpreter: the code it runs is recorded if that uses dftracer%s", target->image,
           python_of(target) ? ": trainings of PyTorch and what is built on it need no line, other programs call "
                               "dftracer.initialize_log"
                             : "");
  } else {
    report(state, BAD, "%s does not link libdftracer_core: nothing is recorded without --io or --nvtx", target->image);
  }
}

/* Does the program load the same core library as this command? */
static void check_links(checkup *state, const program *target) {
  char library[PATH_MAX];
  if (!program_library(target, "libdftracer_core.so", library)) {
    report_unlinked(state, target);
  } else if (!library[0]) {
    report(state, BAD,
           "%s links libdftracer_core, but the loader cannot find it: set LD_LIBRARY_PATH=PREFIX/lib, or link with "
           "-Wl,-rpath,PREFIX/lib",
           target->image);
  } else if (!program_is_core(library)) {
    report(state, state->with_io ? BAD : NOTE, "%s links another libdftracer_core than this command: %s%s",
           target->image, library,
           state->with_io ? "; with --io, both record: use the dftracer of that installation" : "");
  } else {
    report(state, FINE, "%s links libdftracer_core: its annotations are recorded", target->image);
  }
}

static void check_calls(checkup *state, const program *target) {
  if (state->with_io) report(state, FINE, "POSIX and STDIO calls of %s are recorded", target->image);
  else
    report(state, NOTE,
           "POSIX and STDIO calls of %s are recorded only with --io, or if it initialises dftracer with a data "
           "directory",
           target->image);
}

static void check_mpi(checkup *state, const program *target) {
  static const char *const libraries[] = {"libmpi.so", "libmpi_abi.so", "libmpich.so", "libmpi"};
  char library[PATH_MAX], is_disabled[16];
  const char *family;
  size_t i = 0;
  while (i < sizeof libraries / sizeof libraries[0] && !program_library(target, libraries[i], library)) i++;
  if (i == sizeof libraries / sizeof libraries[0]) return;
  family = library[0] ? mpi_family_of(library) : NULL;
  dft_config_get("DFTRACER_DISABLE_MPI", is_disabled, sizeof is_disabled);
  if (!library[0]) {
    report(state, BAD, "%s links MPI, but the loader cannot find the library: set LD_LIBRARY_PATH", target->image);
  } else if (strcmp(is_disabled, "1") == 0) {
    report(state, NOTE, "MPI calls of %s are not recorded: DFTRACER_DISABLE_MPI is 1", target->image);
  } else if (!family) {
    report(state, NOTE, "MPI calls of %s are not recorded: its library is none of those that dftracer knows: %s",
           target->image, library);
  } else if (state->with_io) {
    report(state, FINE, "MPI and MPI-IO calls of %s are recorded; its library is %s: %s", target->image, family,
           library);
  } else {
    report(state, NOTE,
           "MPI and MPI-IO calls of %s are recorded only with --io, or if it initialises dftracer with a "
           "data directory; its library is %s: %s",
           target->image, family, library);
  }
}

static void check_python(checkup *state, const program *target) {
  const char *python = python_of(target);
  char module[PATH_MAX];
  if (!python) return;
  if (python_package_find(python, module)) report(state, FINE, "the package dftracer of %s is %s", python, module);
  else
    report(state, state->with_io || state->with_nvtx ? NOTE : BAD,
           "%s has no package dftracer: neither trainings nor annotations of Python are recorded; install it with pip",
           python);
}

/* The layers besides annotations: a function each. */
static void check_layers(checkup *state, const program *target) {
  static void (*const layers[])(checkup *, const program *) = {check_calls, check_mpi, check_python};
  for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) layers[i](state, target);
}

/* The first word behind a launcher that is a program: options, numbers and names of hosts are none. */
static int launched(char **words, int count, program *target) {
  for (int i = 1; i < count; i++) {
    if (words[i][0] == '-' || strchr(words[i], '=')) continue;
    program_inspect(target, words[i]);
    if (target->path[0] && program_is_startable(target->kind)) return i;
  }
  return 0;
}

static void check_program(checkup *state, char **words, int count) {
  program target;
  const char *word = words[0];
  program_inspect(&target, word);
  if (target.path[0] && program_is_launcher(&target)) {
    int at = launched(words, count, &target);
    if (at) report(state, NOTE, "%s starts another program, which is checked in its place", word);
    else report(state, NOTE, "%s starts other programs: those are traced if they use dftracer", word);
    if (!at) return;
    word = words[at];
  }
  if (!target.path[0]) {
    report(state, BAD, "%s %s", word, program_text(target.kind));
    return;
  }
  if (strcmp(target.path, target.image) != 0)
    report(state, FINE, "%s is %s, a script for %s", word, target.path, target.image);
  else if (strcmp(word, target.path) != 0) report(state, FINE, "%s is %s", word, target.path);
  else report(state, FINE, "%s is a program", word);
  if (target.kind != PROGRAM_FINE) report(state, BAD, "%s %s", target.image, program_text(target.kind));
  else {
    check_links(state, &target);
    check_layers(state, &target);
  }
}

static int run_doctor(int argc, char **argv) {
  arguments given = {.command = &command_doctor, .argc = argc, .argv = argv};
  checkup state = {.is_coloured = terminal_has_colour(stdout)};
  char folders[PATH_MAX] = "";
  int key;
  while ((key = arguments_next(&given)) > 0) {
    if (key == KEY_IO) state.with_io = 1;
    else state.with_nvtx = 1;
  }
  if (key < 0) return given.status;
  check_library(&state);
  check_preload(&state);
  check_nvtx(&state);
  variables_each_unknown(report_unknown, &state);
  dft_config_get("DFTRACER_DATA_DIR", folders, sizeof folders);
  variables_each_missing(folders, report_missing, &state);
  check_switch(&state);
  check_folder(&state);
  if (given.count) {
    const char *word = argv[given.first];
    check_program(&state, argv + given.first, given.count);
    word = printable(word);
    printf("\n%s %s be traced by: dftracer run %s%s-- %s ...\n", word, state.bad_count ? "would not" : "would",
           state.with_io ? "--io " : "", state.with_nvtx ? "--nvtx " : "", word);
  }
  return state.bad_count ? STATUS_FAILED : STATUS_DONE;
}

const command command_doctor = {
  .name = "doctor",
  .arguments = "[--] [CMD...]",
  .summary = "check the installation, and whether a program can be traced",
  .text =
    "Checks the installation and the settings of this environment. With CMD it also checks whether that program can "
    "be traced, and explains why if it cannot.\n\n"
    "  dftracer doctor\n"
    "  dftracer doctor --io -- python train.py\n\n"
    "Exit status: 0 when nothing prevents tracing, 1 when something does (see the lines that begin with BAD).\n",
  .options = options,
  .is_wrapper = 1,
  .run = run_doctor,
};
