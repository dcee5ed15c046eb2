/* again.c - stops tracing and starts it again. Meanwhile, requests are completed, and handles are freed and used again.
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <mpi.h>
#include <stdio.h>

static int got[4];

static int start(const char *folder, const char *name) {
  char path[1024];
  dft_options options = {sizeof options, path, folder};
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return dft_start(&options) == DFT_OK && dft_bind_io() == DFT_OK;
}

int main(int argc, char **argv) {
  int rank, ranks, right, left, sum;
  MPI_Comm half, whole;
  MPI_Request pair[2], nobody, kept, unseen;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  right = (rank + 1) % ranks;
  left = (rank + ranks - 1) % ranks;
  if (!start(argv[1], "first")) return 2;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
  MPI_Irecv(got, 3, MPI_INT, left, 1, MPI_COMM_WORLD, &pair[0]);
  MPI_Isend(&rank, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &pair[1]);
  MPI_Recv_init(got, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &nobody);
  MPI_Send_init(&rank, 1, MPI_INT, right, 3, MPI_COMM_WORLD, &kept);
  dft_stop();
  MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
  MPI_Request_free(&nobody);
  MPI_Comm_free(&half);
  MPI_Comm_dup(MPI_COMM_WORLD, &whole);
  MPI_Send_init(&rank, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &unseen);
  if (!start(argv[1], "second")) return 3;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, whole);
  MPI_Sendrecv(&rank, 1, MPI_INT, right, 2, got, 1, MPI_INT, left, 2, whole, MPI_STATUS_IGNORE);
  MPI_Irecv(got, 2, MPI_INT, left, 3, MPI_COMM_WORLD, &pair[0]);
  MPI_Start(&kept);
  MPI_Wait(&kept, MPI_STATUS_IGNORE);
  MPI_Wait(&pair[0], MPI_STATUS_IGNORE);
  MPI_Irecv(got, 2, MPI_INT, left, 4, MPI_COMM_WORLD, &pair[0]);
  MPI_Isend(got, 2, MPI_INT, right, 4, MPI_COMM_WORLD, &pair[1]);
  MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
  MPI_Start(&unseen);
  MPI_Wait(&unseen, MPI_STATUS_IGNORE);
  dft_stop();
  MPI_Request_free(&unseen);
  MPI_Request_free(&kept);
  MPI_Comm_free(&whole);
  MPI_Finalize();
  return 0;
}
