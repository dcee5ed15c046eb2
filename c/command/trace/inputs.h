/* inputs.h - sorts the paths given to a command: traces for the reader, files in Chrome's format, HDF5 files.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_INPUTS_H
#define DFTRACER_INPUTS_H

#include <dftracer/reader.h>

typedef struct inputs {
  char **traces; /* files, folders, globs for the reader */
  size_t trace_count;
  char **chrome; /* .json, .json.gz */
  size_t chrome_count;
  char **tables; /* .h5 files, also those in a folder without traces; inputs_free frees these texts */
  size_t table_count;
} inputs;

/* Whether the output file is also an input: one of the paths, or a trace in one of the folders. */
int inputs_hold(char *const *paths, int count, const char *output);

/* Sorts the paths by their suffix, stdin by its content. Zero, after a message: no memory, or stdin cannot be read. The caller
 * keeps the texts. */
int inputs_sort(inputs *sources, const char *command, char **paths, int count);
/* Moves .h5 files from `traces` to `tables`, except the one at `output`. Zero: no memory. */
int inputs_take_tables(inputs *sources, const char *output);
void inputs_free(inputs *sources);

/* Opens `traces`. Zero, after a message, when there is nothing to read. */
int inputs_open(const inputs *sources, const char *command, dft_reader **reader);

/* Another reader of the same traces: what is read with it counts no problem of the first one. NULL: no memory. */
dft_reader *inputs_reopen(dft_reader *reader);

/* Prints the problems of the reader, and returns their number. */
uint64_t inputs_report(dft_reader *reader, const char *command);

#endif
