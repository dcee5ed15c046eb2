/* late.c - initialises MPI before dftracer, which then binds the calls in place.
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  dft_options options = {sizeof options, argv[1], argv[2]};
  int value = 1, sum, rank, ranks;
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  unsetenv("OMPI_COMM_WORLD_RANK"); /* what the launcher said is not what is recorded */
  unsetenv("PMI_RANK");
  unsetenv("PMIX_RANK");
  if (dft_start(&options) != DFT_OK || dft_bind_io() != DFT_OK) return 2;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (dft_rank() != rank || dft_size() != ranks) return 3;
  dft_region_begin_named("around", "app"); /* a call that is not recorded, and fails, leaves no trace in it */
  if (MPI_File_open(MPI_COMM_SELF, "/not/recorded", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS) return 4;
  dft_region_end();
  dft_unbind_io();
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* not recorded any more */
  dft_stop();
  MPI_Finalize();
  return 0;
}
