/* standin.h - inputs that the reader cannot read where they are, and the files that stand in for them: stdin, which is copied,
 * and files in Chrome's format, which become lines. The stand-ins have no name and vanish with the process (spill.h).
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_STANDIN_H
#define DFTRACER_STANDIN_H

#include <stdint.h>
#include <sys/types.h>

typedef struct standin {
  struct standin *next;
  char path[32];    /* that the reader opens */
  const char *name; /* of the input, for people */
  uint64_t bytes;   /* of the input */
  int is_chrome;
  dev_t device; /* and inode: of a file in Chrome's format */
  ino_t inode;
} standin;

/* Replaces "-" by a path to what stdin holds. Zero, after a message, when stdin cannot be read. */
int standin_for_stdin(const char *command, char **path);
/* Replaces a file in Chrome's format by a path to its lines, and leaves other paths alone. Zero, after a message, when it cannot
 * be read. */
int standin_for_chrome(const char *command, char **path);
/* Both, for all inputs of a command. */
int standin_for_all(const char *command, char **paths, int count);

/* The stand-in with that path; NULL: the path is that of an input. */
const standin *standin_find(const char *path);
/* The name of the input that a path leads to: the path itself, if nothing stands in for it. */
const char *standin_name(const char *path);

#endif
