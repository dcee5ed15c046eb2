/* arguments.h - parses a command's options and operands as its entry of the table describes them.
 *
 *   arguments given = {.command = &command_cat, .argc = argc, .argv = argv};
 *   int key;
 *   while ((key = arguments_next(&given)) > 0) switch (key) { case 'o': out = given.value; break; }
 *   if (key < 0) return given.status;
 *
 * Afterwards argv + given.first holds the given.count operands. --help is handled here. Long options may be abbreviated as
 * long as they stay unique. A value follows after a space or "=". "--" ends the options.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_ARGUMENTS_H
#define DFTRACER_ARGUMENTS_H

#include "commands.h"

typedef struct arguments {
  const command *command;
  int argc;
  char **argv; /* is reordered: the operands move to the front */
  /* results */
  const char *value; /* of the option just read; NULL: it has none */
  const option *option;
  int status; /* what to return after a negative key */
  int first;  /* the first operand */
  int count;
  /* private */
  int at;
  const char *letters; /* the rest of -abc */
} arguments;

/* The next option's key; 0 at the end; -1 after help or an error was printed: the command then returns `status`. */
int arguments_next(arguments *given);

/* Prints what is wrong with the command line, and returns STATUS_MISUSED. */
__attribute__((format(printf, 2, 3))) int arguments_refuse(const arguments *given, const char *format, ...);

/* Parses the value as a number; K, M, G multiply by 1000, Ki, Mi, Gi by 1024. Returns zero, after a message, when it is not a
 * number or out of range. */
int arguments_number(arguments *given, uint64_t least, uint64_t most, uint64_t *number);

/* Parses the value as a time, such as 0.5, 10s, 250ms or 5m, up to 31 years. Returns zero, after a message, when it is not. */
int arguments_time(arguments *given, int64_t *ns);

/* The index of the value among the words, which end with NULL; -1, after a message, when it is not among them. */
int arguments_choice(arguments *given, const char *const words[]);

#endif
