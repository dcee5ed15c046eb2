/* arguments.h - reads a command's options and operands as its row of the table describes them.
 *
 *   arguments given = {.command = &command_cat, .argc = argc, .argv = argv};
 *   int key;
 *   while ((key = arguments_next(&given)) > 0) switch (key) { case 'o': out = given.value; break; }
 *   if (key < 0) return given.status;
 *
 * Afterwards argv + given.first, given.count are the operands. --help is answered here. Long options may be shortened as
 * long as they are unique; values follow after a space or "="; "--" ends the options.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_ARGUMENTS_H
#define DFTRACER_ARGUMENTS_H

#include "commands.h"

typedef struct arguments {
  const command *command;
  int argc;
  char **argv; /* is put in order: operands to the end */
  /* results */
  const char *value; /* of the option just read; NULL: none was given */
  const option *option;
  int status; /* what to return after a negative key */
  int first;  /* the first operand */
  int count;
  /* inside */
  int at;
  const char *letters; /* the rest of -abc */
} arguments;

/* The next option's key; 0 at the end, -1 when the command is to return `status`: help was printed, or an error. */
int arguments_next(arguments *given);

/* Says what is wrong, and returns STATUS_MISUSED. */
__attribute__((format(printf, 2, 3))) int arguments_refuse(const arguments *given, const char *format, ...);

/* The value as a number, with K, M, G for thousands and Ki, Mi, Gi for 1024s; zero, and a message, when it is none or
 * outside. */
int arguments_number(arguments *given, uint64_t least, uint64_t most, uint64_t *number);

/* The value as a time, such as 0.5, 10s, 250ms or 5m, up to 31 years; zero and a message when it is none. */
int arguments_time(arguments *given, int64_t *ns);

/* Which of the words the value is, ending with NULL, from 0; -1 and a message when it is none. */
int arguments_choice(arguments *given, const char *const words[]);

#endif
