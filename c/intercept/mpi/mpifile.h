/* mpifile.h - files that are open through MPI: their paths, and whether their calls are recorded.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_MPIFILE_H
#define DFT_MPIFILE_H

#include "mpilibrary.h"

typedef struct dft__mpifile {
  uint64_t session; /* that `path` belongs to */
  uint32_t path;    /* from dft_path; 0: not known */
  uint8_t is_out;   /* its calls are not recorded */
  uint8_t has_view; /* offsets are not in bytes */
  uint8_t has_offsets;
} dft__mpifile;

/* What the name of a file says. */
dft__mpifile dft__mpifile_named(const char *name, int32_t access_mode);

void dft__mpifile_opened(dft__word handle, const dft__mpifile *file);
/* NULL: opened before we were there. */
dft__mpifile *dft__mpifile_find(dft__word handle);
void dft__mpifile_closed(dft__word handle);

/* In bytes from the start of the file; -1: not known. `given` is the call's argument, NULL: at the file pointer. Before
 * the call. */
int64_t dft__mpifile_offset(const dft__mpifile *file, dft__word handle, const int64_t *given);

#endif
