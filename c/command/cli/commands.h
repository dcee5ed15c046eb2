/* commands.h - the one table of commands. Dispatch, help, manual page and shell completion all come from it.
 *
 * To add a command, write a file command_NAME.c that defines `const command command_NAME`, and add one row to the table in
 * commands.c. The build, the help, the manual page and the completion pick it up from there.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_COMMANDS_H
#define DFTRACER_COMMANDS_H

#include <dftracer/dft.h>
#include <stdio.h>

/* The exit status of a command: it did its work, it failed, the command line was wrong, or it did its work with what could
 * be read of damaged input. */
enum { STATUS_DONE = 0, STATUS_FAILED = 1, STATUS_MISUSED = 2, STATUS_DAMAGED = 3 };

typedef struct option {
  int key;          /* a letter is the short form, -o; OPTION_LONG and above: there is no short form. 0 ends the list */
  const char *name; /* the long form, without dashes */
  const char *value; /* what it takes, such as "DIR"; "[DIR]": optional, --io or --io=DIR; NULL: it takes no value */
  const char *summary;
} option;

#define OPTION_LONG 256 /* keys of options without a short form: OPTION_LONG + 1, + 2 ... */

typedef struct command {
  const char *name;
  const char *arguments; /* of the usage line, without the options */
  const char *summary;   /* one line, for the list of commands */
  const char *text;      /* paragraphs for help and manual page; a line that starts with a space is printed unchanged */
  const option *options; /* NULL: none but --help */
  int is_wrapper;        /* the first operand ends the options: what follows belongs to another program */
  int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns the exit status */
} command;

/* In the order of the help. The last one is NULL. */
extern const command *const commands[];

/* NULL when no command has that name. */
const command *command_find(const char *name);

#endif
