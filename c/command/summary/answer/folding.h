/* folding.h - lines of a table of files are folded into their folder, if they are many and none of them matters by itself.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_FOLDING_H
#define DFTRACER_FOLDING_H

#include "pathpattern.h"

typedef struct file_line {
  dft_text pattern; /* of its files; empty: they have none, and the line is not folded */
  uint64_t files, ns, bytes;
  /* results */
  struct file_line *joined; /* the line that it became part of; NULL: it is a line of its own */
  int is_folded;            /* it stands for a folder; otherwise for one file, or one pattern */
  size_t folder_len;        /* how much of the pattern is that folder, with its slash */
  dft_text extension;       /* of all its files; empty: they differ, or have none */
  int is_deep;              /* files are also in folders below */
  int is_rest;              /* other files of the folder have lines of their own */
} file_line;

/* `all_ns` and `all_bytes` are the sums of all lines. 0: no memory. */
int fold_lines(file_line *lines, uint32_t count, uint64_t all_ns, uint64_t all_bytes);

#endif
