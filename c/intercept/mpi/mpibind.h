/* mpibind.h - puts slots into the import slots of MPI functions, in every loaded object, also under the preload library.
 *
 * No library of ours exports an MPI name: a program without MPI may ask whether there is one.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_MPIBIND_H
#define DFT_MPIBIND_H

/* Looks at objects that were loaded since the last time. If there is no MPI library among all of them, that is all. */
void dft__mpi_bind(void);
/* Restores every import slot that still holds one of ours. */
void dft__mpi_unbind(void);
/* For a new trace: forgets what handles stood for. */
void dft__mpi_forget(void);
/* Whether an MPI library is loaded. */
int dft__mpi_is_loaded(void);

#endif
