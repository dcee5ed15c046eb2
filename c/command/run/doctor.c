/* doctor.c - dftracer doctor: is it installed right, would this command be traced, and if not, why.
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "command/cli/arguments.h"
#include "command/cli/terminal.h"
#include "program.h"
#include "variables.h"

enum { KEY_IO = OPTION_LONG + 1 };

static const option options[] = {
  {KEY_IO, "io", NULL, "ask for the recording of POSIX and STDIO calls, as dftracer run --io"},
  {0, NULL, NULL, NULL},
};

const command command_doctor;

typedef struct visit {
  int is_coloured;
  int wrong; /* findings that keep events from being recorded */
} visit;

enum verdict { FINE, NOTE, WRONG };

/* One line: a verdict and what it is about. */
__attribute__((format(printf, 3, 4))) static void tell(visit *of, enum verdict verdict, const char *format, ...) {
  static const struct {
    const char *word, *colour;
  } looks[] = {{"ok  ", "\033[32m"}, {"note", "\033[33m"}, {"BAD ", "\033[1;31m"}};
  va_list list;
  of->wrong += verdict == WRONG;
  printf("%s%s%s  ", of->is_coloured ? looks[verdict].colour : "", looks[verdict].word,
         of->is_coloured ? "\033[0m" : "");
  va_start(list, format);
  vprintf(format, list);
  va_end(list);
  printf("\n");
}

static void setting(const char *name, char value[PATH_MAX]) {
  dft_config_get(name, value, PATH_MAX);
}

/* ---- The installation ----------------------------------------------------------------------------------------------- */

static void check_library(visit *of) {
  Dl_info core;
  char path[PATH_MAX] = "?";
  if (dladdr((void *)(uintptr_t)dft_version, &core) && !realpath(core.dli_fname, path)) path[0] = '?';
  if (strcmp(dft_version(), DFT_VERSION) == 0) tell(of, FINE, "libdftracer_core %s: %s", dft_version(), path);
  else
    tell(of, WRONG, "libdftracer_core is %s, this command is %s: %s is of another installation", dft_version(),
         DFT_VERSION, path);
}

static void check_preload(visit *of, int is_needed) {
  char path[PATH_MAX];
  if (program_find_preload(path)) {
    if (strpbrk(path, " :")) tell(of, WRONG, "%s cannot be preloaded: its path has a space or a colon", path);
    else tell(of, FINE, "libdftracer_preload.so, for run --io: %s", path);
  } else {
    tell(of, is_needed ? WRONG : NOTE,
         "libdftracer_preload.so, for run --io, is not beside libdftracer_core.so, nor in lib or "
         "intercept there");
  }
}

/* Settings that are not allowed have been told on stderr when they were read. */
static void tell_unknown(const char *name, const char *nearest, void *context) {
  tell(context, NOTE, "%s is set, but no setting has that name%s%s; dftracer config lists them", name,
       nearest ? ". Is it to be " : "", nearest ? nearest : "");
}

static void check_place(visit *of) {
  char log_file[PATH_MAX], free_text[FORMAT_BYTES];
  struct statvfs disk;
  char *slash;
  setting("DFTRACER_LOG_FILE", log_file);
  slash = strrchr(log_file, '/');
  if (slash) slash[slash == log_file] = '\0';
  else memcpy(log_file, ".", 2);
  if (access(log_file, F_OK) != 0) {
    tell(of, NOTE, "the folder for traces, %s, is not there yet; it will be made", log_file);
  } else if (access(log_file, W_OK | X_OK) != 0) {
    tell(of, WRONG, "traces cannot be written into %s: %s (DFTRACER_LOG_FILE, run --out)", log_file, strerror(errno));
  } else if (statvfs(log_file, &disk) == 0) {
    double bytes = (double)disk.f_bavail * (double)disk.f_frsize;
    tell(of, bytes < 64e6 ? WRONG : FINE, "traces go to %s, where %s are free", log_file,
         format_bytes(free_text, bytes));
  }
}

/* ---- The program ---------------------------------------------------------------------------------------------------- */

/* Is the core that the program loads this one? */
static void check_links(visit *of, const program *what, int with_io) {
  char library[PATH_MAX];
  Dl_info core;
  char own[PATH_MAX] = "", theirs[PATH_MAX] = "";
  if (!program_library(what, "libdftracer_core.so", library)) {
    if (with_io) tell(of, NOTE, "%s does not link libdftracer_core: only its I/O calls will be recorded", what->image);
    else if (program_is_interpreter(what))
      tell(of, NOTE,
           "%s is an interpreter: what it loads or starts is recorded, if that uses dftracer; a Python program calls "
           "dftracer.initialize_log first",
           what->image);
    else
      tell(of, WRONG, "%s does not link libdftracer_core: nothing of it is recorded, unless it is run with --io",
           what->image);
    return;
  }
  if (!library[0]) {
    tell(of, WRONG,
         "%s links libdftracer_core, which the loader does not find: LD_LIBRARY_PATH=PREFIX/lib, or link with "
         "-Wl,-rpath,PREFIX/lib",
         what->image);
    return;
  }
  if (dladdr((void *)(uintptr_t)dft_version, &core) && realpath(core.dli_fname, own) && realpath(library, theirs) &&
      strcmp(own, theirs) != 0) {
    tell(of, NOTE, "%s links another libdftracer_core than this command: %s", what->image, theirs);
  } else {
    tell(of, FINE, "%s links libdftracer_core: its annotations are recorded", what->image);
  }
}

static void check_program(visit *of, const char *word, int with_io) {
  program what;
  program_inspect(&what, word);
  if (!what.path[0]) {
    tell(of, WRONG, "%s %s", word, program_text(PROGRAM_MISSING));
    return;
  }
  if (strcmp(what.path, what.image) == 0) tell(of, FINE, "%s is %s", word, what.path);
  else tell(of, FINE, "%s is %s, a script for %s", word, what.path, what.image);
  if (what.kind != PROGRAM_FINE) tell(of, WRONG, "%s %s", what.image, program_text(what.kind));
  else check_links(of, &what, with_io);
}

static void check_switch(visit *of) {
  char value[PATH_MAX];
  setting("DFTRACER_ENABLE", value);
  if (strcmp(value, "1") == 0) tell(of, FINE, "DFTRACER_ENABLE is 1: programs record when they are started");
  else tell(of, NOTE, "DFTRACER_ENABLE is not set: only dftracer run records");
}

static int run_doctor(int argc, char **argv) {
  arguments given = {.command = &command_doctor, .argc = argc, .argv = argv};
  visit of = {terminal_has_colour(stdout), 0};
  int with_io = 0;
  int key;
  while ((key = arguments_next(&given)) > 0) with_io = 1;
  if (key < 0) return given.status;
  check_library(&of);
  check_preload(&of, with_io);
  variables_each_unknown(tell_unknown, &of);
  check_switch(&of);
  check_place(&of);
  if (given.count) check_program(&of, argv[given.first], with_io);
  if (given.count)
    printf("\n%s %s be traced by: dftracer run %s-- %s ...\n", argv[given.first], of.wrong ? "would not" : "would",
           with_io ? "--io " : "", argv[given.first]);
  return of.wrong ? STATUS_FAILED : STATUS_DONE;
}

const command command_doctor = {
  .name = "doctor",
  .arguments = "[--] [CMD...]",
  .summary = "is it installed right, would this command be traced, and if not, why",
  .text =
    "Looks at the installation and the settings of this environment, and, with CMD, at that program: whether it can "
    "be traced, and if not, why.\n\n"
    "  dftracer doctor\n"
    "  dftracer doctor --io -- python train.py\n\n"
    "Exit status: 0 when nothing is in the way, 1 when something is (the lines that begin with BAD).\n",
  .options = options,
  .is_wrapper = 1,
  .run = run_doctor,
};
