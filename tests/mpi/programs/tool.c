/* tool.c - another profiling tool: its functions stand between the program and the library, and one is slow.
 * SPDX-License-Identifier: MIT */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int seen;

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  seen++;
  return PMPI_Allreduce(from, to, count, type, op, comm);
}

int MPI_Comm_free(MPI_Comm *comm) {
  int code = PMPI_Comm_free(comm);
  usleep(300 * 1000);
  return code;
}

int MPI_Finalize(void) {
  fprintf(stderr, "the tool saw %d\n", seen);
  return PMPI_Finalize();
}
