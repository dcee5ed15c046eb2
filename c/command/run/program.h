/* program.h - which program a command line would run, and whether it can be traced.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_PROGRAM_H
#define DFTRACER_PROGRAM_H

#include <limits.h>

/* Why a program cannot be traced; the text follows the program's path. */
#define PROGRAM_LIST(X)                                                                                         \
  X(PROGRAM_FINE, "can be traced")                                                                              \
  X(PROGRAM_MISSING, "does not exist")                                                                          \
  X(PROGRAM_FOLDER, "is a folder")                                                                              \
  X(PROGRAM_FORBIDDEN, "cannot be run: no permission")                                                          \
  X(PROGRAM_STATIC,                                                                                             \
    "is linked statically: no library can be loaded into it, so only annotations linked into it count")         \
  X(PROGRAM_SETUID, "runs with raised privileges (setuid, setgid or capabilities), which turns tracing off")    \
  X(PROGRAM_FOREIGN, "is built for another architecture than libdftracer_core, which cannot be loaded into it") \
  X(PROGRAM_NO_LOADER, "needs a dynamic loader that does not exist")                                            \
  X(PROGRAM_UNKNOWN, "is neither an executable nor a script")

enum program_kind {
#define PROGRAM_ENUM(name, text) name,
  PROGRAM_LIST(PROGRAM_ENUM)
#undef PROGRAM_ENUM
};

typedef struct program {
  enum program_kind kind; /* of the image */
  char path[PATH_MAX];    /* where the word was found; empty: nowhere */
  char image[PATH_MAX];   /* what finally runs: the same, or the interpreter of a script */
  char loader[PATH_MAX];  /* the dynamic loader of the image; empty: it has none */
} program;

/* Finds a word of the command line like execvp does, and follows scripts to their interpreters. */
void program_inspect(program *target, const char *word);

const char *program_text(enum program_kind kind);

/* Whether it runs code of others: a shell, Python, or any interpreter of a script. */
int program_is_interpreter(const program *target);

/* Whether it starts a program that its arguments name: mpirun, srun, timeout. */
int program_is_launcher(const program *target);

/* Zero when the program cannot even be started. */
int program_is_startable(enum program_kind kind);

/* Finds, among the libraries that the loader would load for the program, the one whose file name starts with `name`. Returns
 * zero when the program does not need it; an empty path means that the loader cannot find it. Runs the loader only. */
int program_library(const program *target, const char *name, char path[PATH_MAX]);

/* The path of the core library that this command uses; empty when it is unknown. */
const char *program_core(char path[PATH_MAX]);

/* Whether the file is that library, as far as is known. If a program links another one, it has two of them under --io: both record,
 * and what they say of calls does not fit together. */
int program_is_core(const char *library);

/* Our libraries that programs load, beside the core library. */
#define PROGRAM_PRELOAD "libdftracer_preload.so"
#define PROGRAM_NVTX "libdftracer_nvtx.so"

/* Finds one of them, beside the core library or in its build tree; zero when it is not there. */
int program_find_own(const char *name, char path[PATH_MAX]);

/* Finds the folder whose sitecustomize.py starts the Python package, in a wheel or in the build tree; zero when it is
 * not there, or when PYTHONPATH cannot hold it. */
int program_find_start(char path[PATH_MAX]);

#endif
