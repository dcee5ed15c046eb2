/* file.h - bytes to a file, safely. No descriptor stays open between calls, and no signal is raised: a size limit of the
 * process (RLIMIT_FSIZE) is reported like a full disk.
 *
 * The path is absolute, and its last part must not be a symbolic link. errno is not preserved.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SINK_FILE_H
#define DFTRACER_SINK_FILE_H

#include <dftracer/dft.h>

/* Makes the file, with permissions by the umask, or cuts one that a dead process left to `length`. With length 0 it need
 * not exist; with any other it must be at least that long. */
dft_status dft__file_begin(const char *path, uint64_t length);

/* Begins a file of no length, and writes to it. */
dft_status dft__file_first(const char *path, const void *data, size_t bytes);

/* Writes at `length`, where the file must end or have ended. After a failure it ends there again: DFT_ENOSPC when there
 * was no space, DFT_EIO for the rest. */
dft_status dft__file_append(const char *path, uint64_t length, const void *data, size_t bytes);

#endif
