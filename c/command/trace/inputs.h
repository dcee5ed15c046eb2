/* inputs.h - the paths of a command that reads traces: ours for the reader, those in Chrome's format apart.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_INPUTS_H
#define DFTRACER_INPUTS_H

#include <dftracer/reader.h>

typedef struct inputs {
  char **traces; /* files, folders, globs for the reader */
  size_t trace_count;
  char **chrome; /* .json, .json.gz */
  size_t chrome_count;
  char **tables; /* .h5; of a folder without traces those in it. These texts are its own */
  size_t table_count;
} inputs;

/* Whether the file that is to be written is one that is read: one of the paths, or a trace in a folder of them. */
int inputs_hold(char *const *paths, int count, const char *output);

/* Zero: no memory. The texts stay the caller's. */
int inputs_sort(inputs *of, char **paths, int count);
/* Takes .h5 files out of the traces; but for the one at `output`. */
int inputs_take_tables(inputs *of, const char *output);
void inputs_free(inputs *of);

/* Opens those for the reader; zero, after a message of `command`, when there is nothing to read. */
int inputs_open(const inputs *of, const char *command, dft_reader **reader);

/* Tells what was damaged; the number of problems. */
uint64_t inputs_report(dft_reader *reader, const char *command);

#endif
