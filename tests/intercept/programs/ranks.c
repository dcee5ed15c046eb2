/* ranks.c - every rank writes its part of one file with MPI-IO, and reads its neighbour's. SPDX-License-Identifier: MIT */
#include <mpi.h>
#include <stdio.h>

enum { PART = 100000 };
static char mine[PART], theirs[PART];

int main(int argc, char **argv) {
  int rank, size, is_right = 1, are_all;
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < PART; i++) mine[i] = (char)(rank + i);
  MPI_File_open(MPI_COMM_WORLD, "shared.dat", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_write_at(file, (MPI_Offset)rank * PART, mine, PART, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_read_at(file, (MPI_Offset)((rank + 1) % size) * PART, theirs, PART, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  for (int i = 0; i < PART; i++) is_right &= theirs[i] == (char)((rank + 1) % size + i);
  MPI_Reduce(&is_right, &are_all, 1, MPI_INT, MPI_LAND, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks, %s\n", size, are_all ? "right" : "wrong");
  MPI_Finalize();
  return 0;
}
