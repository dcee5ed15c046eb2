/* trouble.h - reports the problems that the reader found: which file, where in it, and what.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TROUBLE_H
#define DFTRACER_TROUBLE_H

#include <dftracer/reader.h>
#include <stdio.h>

/* The message for an errno of reading a file. */
const char *trouble_text(int error);
/* The message for a file that contains no events. */
const char *trouble_refusal(const char *path);
/* Prints one problem as a line that starts with `before`. `path` is that of a trace, or NULL. */
void trouble_print_at(FILE *out, const char *before, const char *path, const dft_problem *problem);
/* Prints at most `most` problems, and how many more there are. Returns the number of all. */
uint64_t trouble_print_all(FILE *out, const char *before, dft_reader *reader, uint32_t most);
/* The exit status of a command that has read everything: STATUS_DAMAGED if something was read, and something was not. */
int trouble_status(dft_reader *reader);
/* Opens the paths. Returns NULL, after a message, when there is nothing to read or no memory. */
dft_reader *trouble_open(const char *who, const dft_reader_options *options, char **paths, int count);

#endif
