/* join.h - from a segment file to an HDF5 file, in a process of its own.
 *
 * libhdf5 must not come into the traced process: it is not safe there beside another copy, of the same version or of
 * another (it keeps global state, and a namespace of its own, dlmopen, shares pthread keys with the program: measured, see
 * ARCHITECTURE.md). So the program dftracer/h5join, beside this library, is the only one that is linked to it. The traced
 * program sees nothing of it, neither by SIGCHLD nor by wait(), and no crash of it can hurt.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_H5_JOIN_H
#define DFTRACER_H5_JOIN_H

#include <dftracer/dft.h>

/* NULL when h5join is there; else why not. */
const char *dft__h5_join_check(void);

/* Runs `h5join ARGUMENT...` in a folder, a descriptor or AT_FDCWD; arguments end with NULL. On failure `why` gets its message. */
dft_status dft__h5_join_run(const char *const *arguments, int folder, char *why, size_t size);

/* Whether it has become an HDF5 file. */
int dft__h5_is_joined(const char *path);
/* The file at `path`, a segment file of this length, becomes an HDF5 file. Called again, it notices that it is one. */
dft_status dft__h5_join(const char *path, uint64_t length, char *why, size_t size);

#endif
