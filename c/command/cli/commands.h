/* commands.h - the one table of commands: it dispatches, and writes the help, the man page and the shells' completion.
 *
 * A command is a file that defines one `command` and its run function, and a line in commands.c. run gets its own
 * arguments, argv[0] being its name, and returns the exit status: 0 done, 1 it failed, 2 it was called in a wrong way.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_COMMANDS_H
#define DFTRACER_COMMANDS_H

#include <dftracer/dft.h>
#include <stdio.h>

enum { STATUS_DONE = 0, STATUS_FAILED = 1, STATUS_MISUSED = 2 };

typedef struct option {
  int key;           /* a letter: the short form, -o; OPTION_LONG and above: there is none. 0 ends the list */
  const char *name;  /* the long form, without dashes */
  const char *value; /* what it takes, such as "DIR"; "[DIR]": may be left out, --io or --io=DIR; NULL: a switch */
  const char *summary;
} option;

#define OPTION_LONG 256 /* keys of options without a short form: OPTION_LONG + 1, + 2 ... */

typedef struct command {
  const char *name;
  const char *arguments; /* of the usage line, without the options */
  const char *summary;   /* one line, for the list of commands */
  const char *text; /* paragraphs for the help and the man page; a line that starts with a space is kept as it is */
  const option *options; /* NULL: none but --help */
  int is_wrapper;        /* the first operand ends the options: what follows belongs to another program */
  int (*run)(int argc, char **argv);
} command;

/* In the order of the help; a NULL ends it. */
extern const command *const commands[];

/* NULL when there is none of that name. */
const command *command_find(const char *name);

/* The list of commands, and the help of one. */
void help_print_all(FILE *out);
void help_print(FILE *out, const command *of);

/* Runs dftracer-NAME, found beside this program or on PATH, in the place of this process. Returns when there is none. */
void extension_run(char **argv);
/* Calls for the name of every dftracer-NAME beside this program. */
void extension_each(void (*call)(const char *name, void *context), void *context);

#endif
