/* wrapper.c - the least that a profiling tool can be: functions that call those of the library.
 * SPDX-License-Identifier: MIT */
#include <mpi.h>

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return PMPI_Allreduce(from, to, count, type, op, comm);
}
int MPI_Isend(const void *from, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request) {
  return PMPI_Isend(from, count, type, peer, tag, comm, request);
}
int MPI_Irecv(void *to, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request *request) {
  return PMPI_Irecv(to, count, type, peer, tag, comm, request);
}
int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses) {
  return PMPI_Waitall(count, requests, statuses);
}
