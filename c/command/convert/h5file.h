/* h5file.h - traces as one HDF5 file: the ranks of a job merged, with a column `rank`.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_H5FILE_H
#define DFTRACER_H5FILE_H

#include <dftracer/reader.h>

#include "command/cli/progress.h"

/* is_table: compound rows in the place of columns. Nonzero: an errno; a message is printed when that says too little. */
int h5file_write(const char *path, dft_reader *reader, progress *shown, uint64_t *events);
int h5file_write_table(const char *path, dft_reader *reader, progress *shown, uint64_t *events);

/* The .h5 files at `parts` merged into one. The same results. */
int h5file_merge(const char *path, char *const *parts, size_t count, int is_table, uint64_t *events);
/* A file that shows the .h5 files at `parts` as one. The same results. */
int h5file_link(const char *path, char *const *parts, size_t count);

#endif
