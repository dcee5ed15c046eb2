/* mpimarks.h - how families of MPI libraries are told apart: by the recording (c/intercept/mpi/mpilibrary.c), and by
 * `dftracer doctor`, which looks into the file. SPDX-License-Identifier: MIT */
#ifndef DFT_MPIMARKS_H
#define DFT_MPIMARKS_H

/* A symbol that only Open MPI has. */
#define DFT__MPI_MARK_OPEN_MPI "ompi_mpi_comm_world"
/* One of these is in the version text of MPICH, and of the libraries with its ABI. */
#define DFT__MPI_MARKS_MPICH "MPICH", "Intel(R) MPI", "MVAPICH"
/* How the file names of libraries with the ABI of the standard begin. */
#define DFT__MPI_MARK_ABI "libmpi_abi.so"

#endif
