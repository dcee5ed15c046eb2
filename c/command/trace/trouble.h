/* trouble.h - what the reader met, said to people: which file, where, what.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TROUBLE_H
#define DFTRACER_TROUBLE_H

#include <dftracer/reader.h>
#include <stdio.h>

/* What an errno means for a file that is to be read. */
const char *trouble_text(int error);
/* Of a file that holds no events: what it may be. */
const char *trouble_refusal(const char *path);
/* One problem as a line, with `before` in front of it. */
void trouble_print(FILE *out, const char *before, dft_reader *reader, const dft_problem *problem);
/* At most `most` of them, and how many more there are. Returns the number of all. */
uint64_t trouble_print_all(FILE *out, const char *before, dft_reader *reader, uint32_t most);
/* Opens the paths; NULL, and a message, when there is nothing to read or no memory. */
dft_reader *trouble_open(const char *command, const dft_reader_options *options, char **paths, int count);

#endif
