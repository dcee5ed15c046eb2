/* slow.c - rank 3 takes three times as long as the others for the region `advance`; C and C++.
 *
 * Then all ranks meet, or, with an argument, each exchanges its border with the ranks beside it.
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <mpi.h>
#include <unistd.h>

#define STEPS 60 /* starting MPI takes seconds on a loaded machine, and is to be small beside it */
#define MS 1000

static void exchange(int rank, int size) {
  const int before = (rank + size - 1) % size, behind = (rank + 1) % size;
  double own = rank, left, right;
  MPI_Request requests[4];
  MPI_Irecv(&left, 1, MPI_DOUBLE, before, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&right, 1, MPI_DOUBLE, behind, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(&own, 1, MPI_DOUBLE, behind, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(&own, 1, MPI_DOUBLE, before, 1, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv) {
  int rank, size;
  double one = 1, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < STEPS; i++) {
    dft_region_begin_named("advance", "solver");
    usleep((rank == 3 ? 150 : 50) * MS);
    dft_region_end();
    if (argc > 1) exchange(rank, size);
    else MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
