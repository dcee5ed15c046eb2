/* payload.h - one MPI call: its arguments by their roles, and how many bytes it sends.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PAYLOAD_H
#define DFT_PAYLOAD_H

#include "communicator.h"
#include "mpirow.h"

typedef struct dft__mpi_args {
  const dft__mpi_row *row;
  dft__word words[DFT__MPI_ARGS_MOST];
} dft__mpi_args;

static inline int dft__mpi_has(const dft__mpi_args *args, char role) {
  return args->row->at[role - 'A'] != 0;
}
/* The argument of a role that the row has. Only the lower half of an int is defined. */
static inline dft__word dft__mpi_word(const dft__mpi_args *args, char role) {
  return args->words[args->row->at[role - 'A'] - 1];
}
static inline int32_t dft__mpi_int(const dft__mpi_args *args, char role) {
  return (int32_t)dft__mpi_word(args, role);
}
static inline const void *dft__mpi_pointer(const dft__mpi_args *args, char role) {
  return (const void *)dft__mpi_word(args, role);
}

/* What this rank sends; where it only receives, what it posts. -1: the call moves nothing, or it cannot be known. Only
 * after the call has succeeded: then the handles that are significant here were valid. `comm` may be NULL. */
int64_t dft__mpi_bytes(const dft__mpi_args *args, dft__comm *comm);

#endif
