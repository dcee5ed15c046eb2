/* h5file.h - traces as one HDF5 file: the ranks of a job merged, with a column `rank`.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_H5FILE_H
#define DFTRACER_H5FILE_H

#include <dftracer/reader.h>

#include "command/cli/progress.h"

/* Writes columns, or compound rows (table). Returns 0 or an errno, after a message when the errno alone says too little. */
int h5file_write(const char *path, dft_reader *reader, progress *shown, uint64_t *events);
int h5file_write_table(const char *path, dft_reader *reader, progress *shown, uint64_t *events);

/* Merges the .h5 files at `parts` into one. is_table: write compound rows instead of columns. Returns the same. */
int h5file_merge(const char *path, char *const *parts, size_t count, int is_table, uint64_t *events);
/* Writes a file that shows the .h5 files at `parts` as one. Returns the same. */
int h5file_link(const char *path, char *const *parts, size_t count);

#endif
