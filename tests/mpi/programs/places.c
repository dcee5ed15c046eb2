/* places.c - messages in communicators whose ranks are not those of the world; says for each which world rank it means.
 * SPDX-License-Identifier: MIT */
#include <mpi.h>
#include <stdio.h>

static FILE *file;

/* The ranks of each parity, from the highest to the lowest. */
static int world_rank(int parity, int ranks, int rank) {
  int highest = (ranks - 1) % 2 == parity ? ranks - 1 : ranks - 2;
  return highest - 2 * rank;
}

int main(int argc, char **argv) {
  char path[1024];
  int me, ranks, mine, size, value = 1, got;
  MPI_Comm half, again, twin, both;
  MPI_Group group;
  MPI_Status status;
  MPI_Request request;
  MPI_Message message;
  if (argc != 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  snprintf(path, sizeof path, "%s/%d", argv[1], me);
  file = fopen(path, "w");
  MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half);
  MPI_Comm_dup(half, &again);
  MPI_Comm_rank(half, &mine);
  MPI_Comm_size(half, &size);
  MPI_Isend(&value, 1, MPI_INT, (mine + 1) % size, 11, half, &request);
  MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, half, &status);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&value, 1, MPI_INT, (mine + 1) % size, 12 + mine, &got, 1, MPI_INT, (mine + size - 1) % size,
               12 + (mine + size - 1) % size, again, &status);
  MPI_Bcast(&value, 1, MPI_INT, size - 1, again);
  fprintf(file, "MPI_Isend peer %d tag 11 comm_size %d group %d\n", world_rank(me % 2, ranks, (mine + 1) % size), size,
          me % 2);
  fprintf(file, "MPI_Recv peer %d tag 11 comm_size %d group %d\n", world_rank(me % 2, ranks, (mine + size - 1) % size),
          size, me % 2);
  fprintf(file, "MPI_Sendrecv peer %d source %d tag %d source_tag %d comm_size %d group %d\n",
          world_rank(me % 2, ranks, (mine + 1) % size), world_rank(me % 2, ranks, (mine + size - 1) % size), 12 + mine,
          12 + (mine + size - 1) % size, size, 2 + me % 2);
  fprintf(file, "MPI_Bcast root %d comm_size %d group %d\n", world_rank(me % 2, ranks, size - 1), size, 2 + me % 2);
  fprintf(file, "MPI_Comm_free comm_size %d group %d\n", size, 2 + me % 2);
  MPI_Comm_free(&again);
  MPI_Comm_group(half, &group);
  MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &again);
  MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &twin);
  MPI_Probe(MPI_PROC_NULL, 0, again, &status);
  MPI_Mprobe(MPI_PROC_NULL, 0, twin, &message, &status);
  fprintf(file, "MPI_Probe comm_size %d group %d\n", size, 4 + me % 2);
  fprintf(file, "MPI_Mprobe comm_size %d group %d\n", size, 6 + me % 2);
  MPI_Group_free(&group);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, world_rank(1 - me % 2, ranks, 0), 7, &both);
  MPI_Comm_idup(both, &twin, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(twin);
  fprintf(file, "MPI_Barrier comm_size %d remote_size %d group 8\n", size, ranks - size);
  MPI_Comm_disconnect(&twin);
  MPI_Comm_disconnect(&both);
  MPI_Comm_disconnect(&half);
  MPI_Finalize();
  return fclose(file) ? 1 : 0;
}
