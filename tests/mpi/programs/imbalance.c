/* imbalance.c - a job of four ranks, each of which is to blame for something; argv[1] is a file.
 *
 *   rank 3   sleeps three times as long as the others before each all-reduce, of which half are not blocking
 *   rank 2   is late at the barriers of its half, and at the one of all
 *   rank 1   sends late
 *
 * Few long sleeps, so that this holds where ranks that wait take the processor from those that woke up. Whoever is to
 * blame comes last alone: two ranks that leave one barrier together would come to the next in the same microsecond.
 * SPDX-License-Identifier: MIT */
#include <mpi.h>
#include <unistd.h>

#define MS 1000
#define STEPS 4
#define MESSAGES 10

int main(int argc, char **argv) {
  int rank, got = 0;
  double one = 1, sum;
  MPI_Comm half;
  MPI_Request request;
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  for (int i = 0; i < STEPS; i++) {
    usleep((rank == 3 ? 240 : 80) * MS);
    if (i % 2) {
      MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    } else {
      MPI_Iallreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
  for (int i = 0; i < STEPS; i++) {
    usleep((rank == 2 ? 40 : 1) * MS);
    MPI_Barrier(half);
  }
  usleep((rank == 2 ? 40 : 1) * MS);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < MESSAGES; i++) {
    if (rank == 0) MPI_Recv(&got, 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) usleep(10 * MS);
    if (rank == 1) MPI_Send(&i, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    if (rank == 2) MPI_Recv(&got, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(&i, 1, MPI_INT, 2, 6, MPI_COMM_WORLD);
  }
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof one, &one, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
