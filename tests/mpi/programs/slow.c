/* slow.c - rank 3 takes three times as long as the others for the region `advance`; C and C++.
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <mpi.h>
#include <unistd.h>

#define STEPS 60 /* starting MPI takes seconds on a loaded machine, and is to be small beside it */
#define MS 1000

int main(int argc, char **argv) {
  int rank;
  double one = 1, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < STEPS; i++) {
    dft_region_begin_named("advance", "solver");
    usleep((rank == 3 ? 150 : 50) * MS);
    dft_region_end();
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
