/* program.h - what a command line would run, and whether tracing can reach it.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_PROGRAM_H
#define DFTRACER_PROGRAM_H

#include <limits.h>

/* Why a program cannot be traced; the text follows the program's path. */
#define PROGRAM_LIST(X)                                                                                              \
  X(PROGRAM_FINE, "can be traced")                                                                                   \
  X(PROGRAM_MISSING, "is not there")                                                                                 \
  X(PROGRAM_FORBIDDEN, "may not be run: no permission")                                                              \
  X(PROGRAM_STATIC, "is linked statically: no library can be loaded into it, only annotations linked into it count") \
  X(PROGRAM_SETUID, "runs with raised privileges (setuid, setgid or capabilities): tracing is off in it")            \
  X(PROGRAM_FOREIGN, "is for another kind of machine than libdftracer_core: it cannot be loaded into it")            \
  X(PROGRAM_LOADERLESS, "needs a dynamic loader that is not there")                                                  \
  X(PROGRAM_STRANGE, "is neither a program nor a script")

enum program_kind {
#define PROGRAM_ENUM(name, text) name,
  PROGRAM_LIST(PROGRAM_ENUM)
#undef PROGRAM_ENUM
};

typedef struct program {
  enum program_kind kind; /* of the last in the chain */
  char path[PATH_MAX];    /* what was found for the word; empty: nothing */
  char image[PATH_MAX];   /* what runs in the end: the same, or a script's interpreter */
  char loader[PATH_MAX];  /* the dynamic loader of the image; empty: none */
} program;

/* Finds a word of the command line as execvp does, and follows scripts to their interpreters. */
void program_inspect(program *of, const char *word);

const char *program_text(enum program_kind kind);

/* Whether it runs what others wrote. */
int program_is_interpreter(const program *of);

/* Zero when the program cannot even be started. */
int program_is_startable(enum program_kind kind);

/* The path of the object whose file name starts so among those that the loader would load for it; zero when there is
 * none. Empty when the loader does not find it. It runs the loader, not the program. */
int program_library(const program *of, const char *name, char path[PATH_MAX]);

/* libdftracer_preload.so, beside the core library or in its build tree; zero when it is not there. */
int program_find_preload(char path[PATH_MAX]);

#endif
