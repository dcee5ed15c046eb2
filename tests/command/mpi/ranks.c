/* ranks.c - a real MPI program with regions; built by the test with mpicc. With an argument, that rank kills itself.
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int rank, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int step = 0; step < 10; step++) {
    static dft_site site = DFT_SITE("allreduce", "comm");
    dft_region_begin(&site);
    dft_update_int("step", step);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    dft_region_end();
  }
  if (argc > 1 && atoi(argv[1]) == rank) return kill(getpid(), SIGKILL);
  MPI_Finalize();
  return sum == 6 ? 0 : 1;
}
