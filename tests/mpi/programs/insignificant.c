/* insignificant.c - leaves rubbish wherever the standard says that an argument does not count, and counts its calls.
 * SPDX-License-Identifier: MIT */
#include <stdint.h>

#include "tally.h"

#define BAD_TYPE ((MPI_Datatype)(intptr_t)0x2ff)
#define BAD_COMM ((MPI_Comm)(intptr_t)0x2ff)
#define RUBBISH ((void *)(intptr_t)0x2ff)
#define ANY_COUNT (-77)
#define WORLD MPI_COMM_WORLD
#define INTS(count) count, MPI_INT
#define BAD ANY_COUNT, BAD_TYPE

static int counts[64], places[64];
static MPI_Datatype types[64];

/* Only the root's receiving side counts, or its sending side. */
void every_collective(void) {
  long long all = 2 * ranks * (ranks + 1);
  for (int i = 0; i < ranks; i++) {
    counts[i] = i + 1;
    places[i] = 256 * i;
    types[i] = MPI_INT;
  }
  if (me == 0) {
    DO(Gather, 8, MPI_IN_PLACE, BAD, in, INTS(2), 0, WORLD);
    DO(Gatherv, 4, MPI_IN_PLACE, BAD, in, counts, places, MPI_INT, 0, WORLD);
    DO(Scatter, 8 * ranks, out, INTS(2), MPI_IN_PLACE, BAD, 0, WORLD);
    DO(Scatterv, all, out, counts, places, MPI_INT, MPI_IN_PLACE, BAD, 0, WORLD);
    DO(Reduce, 12, MPI_IN_PLACE, in, INTS(3), MPI_SUM, 0, WORLD);
  } else {
    DO(Gather, 8, out, INTS(2), RUBBISH, BAD, 0, WORLD);
    DO(Gatherv, 4 * (me + 1), out, INTS(me + 1), RUBBISH, RUBBISH, RUBBISH, BAD_TYPE, 0, WORLD);
    DO(Scatter, 8, RUBBISH, BAD, in, INTS(2), 0, WORLD);
    DO(Scatterv, 4 * (me + 1), RUBBISH, RUBBISH, RUBBISH, BAD_TYPE, in, INTS(me + 1), 0, WORLD);
    DO(Reduce, 12, out, RUBBISH, INTS(3), MPI_SUM, 0, WORLD);
  }
  DO(Allreduce, 12, MPI_IN_PLACE, in, INTS(3), MPI_SUM, WORLD);
  DO(Scan, 12, MPI_IN_PLACE, in, INTS(3), MPI_SUM, WORLD);
  DO(Allgather, 8, MPI_IN_PLACE, BAD, in, INTS(2), WORLD);
  DO(Allgatherv, 4 * (me + 1), MPI_IN_PLACE, BAD, in, counts, places, MPI_INT, WORLD);
  for (int i = 0; i < ranks; i++) counts[i] = 2;
  DO(Alltoall, 8 * ranks, MPI_IN_PLACE, BAD, in, INTS(2), WORLD);
  DO(Alltoallv, 8 * ranks, MPI_IN_PLACE, RUBBISH, RUBBISH, BAD_TYPE, in, counts, places, MPI_INT, WORLD);
  DO(Alltoallw, 8 * ranks, MPI_IN_PLACE, RUBBISH, RUBBISH, RUBBISH, in, counts, places, types, WORLD);
  DO(Reduce_scatter, 8 * ranks, MPI_IN_PLACE, in, counts, MPI_INT, MPI_SUM, WORLD);
  DO(Reduce_scatter_block, 8 * ranks, MPI_IN_PLACE, in, INTS(2), MPI_SUM, WORLD);
}

/* One group has the root. Of its other ranks nothing counts. */
void every_communicator(void) {
  int is_low = me < ranks / 2, others = is_low ? ranks - ranks / 2 : ranks / 2, mine;
  MPI_Comm half, both;
  DO(Comm_split, 0, WORLD, is_low, me, &half);
  MPI_Comm_rank(half, &mine);
  if (mine == 0) DO(Intercomm_create, 0, half, 0, WORLD, is_low ? ranks / 2 : 0, 3, &both);
  else DO(Intercomm_create, 0, half, 0, BAD_COMM, ANY_COUNT, 3, &both);
  for (int i = 0; i < 64; i++) counts[i] = 2, places[i] = 256 * i;
  if (!is_low) {
    DO(Bcast, 12, in, INTS(3), 0, both);
    DO(Reduce, 12, out, RUBBISH, INTS(3), MPI_SUM, 0, both);
    DO(Gather, 8, out, INTS(2), RUBBISH, BAD, 0, both);
    DO(Gatherv, 8, out, INTS(2), RUBBISH, RUBBISH, RUBBISH, BAD_TYPE, 0, both);
    DO(Scatter, 8, RUBBISH, BAD, in, INTS(2), 0, both);
  } else if (mine == 0) {
    DO(Bcast, 12, in, INTS(3), MPI_ROOT, both);
    DO(Reduce, 12, RUBBISH, in, INTS(3), MPI_SUM, MPI_ROOT, both);
    DO(Gather, 8 * others, RUBBISH, BAD, in, INTS(2), MPI_ROOT, both);
    DO(Gatherv, 8 * others, RUBBISH, BAD, in, counts, places, MPI_INT, MPI_ROOT, both);
    DO(Scatter, 8 * others, out, INTS(2), RUBBISH, BAD, MPI_ROOT, both);
  } else {
    DO(Bcast, 0, in, INTS(3), MPI_PROC_NULL, both); /* the libraries check its arguments all the same */
    DO(Reduce, 0, RUBBISH, RUBBISH, INTS(3), MPI_SUM, MPI_PROC_NULL, both);
    DO(Gather, 0, RUBBISH, BAD, RUBBISH, BAD, MPI_PROC_NULL, both);
    DO(Gatherv, 0, RUBBISH, BAD, RUBBISH, RUBBISH, RUBBISH, BAD_TYPE, MPI_PROC_NULL, both);
    DO(Scatter, 0, RUBBISH, BAD, RUBBISH, BAD, MPI_PROC_NULL, both);
  }
  DO(Alltoall, 8 * others, out, INTS(2), in, INTS(2), both);
  DO(Allgather, 8, out, INTS(2), in, INTS(2), both);
  DO(Comm_free, 0, &both);
  DO(Comm_free, 0, &half);
}

/* MPI_BOTTOM, derived types, messages to nobody, statuses that are ignored. */
void every_message(void) {
  MPI_Datatype vector, absolute;
  MPI_Aint address;
  MPI_Request request;
  int one = 1, is_there;
  MPI_Type_vector(2, 1, 3, MPI_DOUBLE, &vector); /* 16 bytes in 32 */
  MPI_Type_commit(&vector);
  MPI_Get_address(out, &address);
  MPI_Type_create_hindexed(1, &one, &address, MPI_INT, &absolute);
  MPI_Type_commit(&absolute);
  DO(Irecv, 48, in, 3, vector, left_rank, 1, WORLD, &request);
  DO(Send, 48, out, 3, vector, right_rank, 1, WORLD);
  DO(Wait, 48, &request, MPI_STATUS_IGNORE);
  DO(Irecv, 4, in, INTS(1), left_rank, 2, WORLD, &request);
  DO(Send, 4, MPI_BOTTOM, 1, absolute, right_rank, 2, WORLD);
  DO(Waitall, 4, 1, &request, MPI_STATUSES_IGNORE);
  DO(Send, 0, out, INTS(9), MPI_PROC_NULL, 3, WORLD);
  DO(Recv, 0, in, INTS(9), MPI_PROC_NULL, 3, WORLD, MPI_STATUS_IGNORE);
  MPI_Type_free(&vector);
  MPI_Type_free(&absolute);
  DO(Iprobe, 0, MPI_ANY_SOURCE, 77, WORLD, &is_there, RUBBISH); /* nothing is there: the status stays as it is */
}

void every_request(void) {
  MPI_Request none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int index, flag, count, indices[2];
  DO(Waitall, 0, 0, NULL, MPI_STATUSES_IGNORE);
  DO(Waitall, 0, 2, none, MPI_STATUSES_IGNORE);
  DO(Testall, 0, 2, none, &flag, MPI_STATUSES_IGNORE);
  DO(Waitsome, 0, 2, none, &count, indices, MPI_STATUSES_IGNORE); /* count is MPI_UNDEFINED */
  DO(Testany, 0, 2, none, &index, &flag, MPI_STATUS_IGNORE);
  DO(Test, 0, none, &flag, MPI_STATUS_IGNORE);
}

void every_window(void) {
  static int memory[16];
  MPI_Win window;
  MPI_Comm own;
  MPI_Comm_dup(WORLD, &own), tally("MPI_Comm_dup", 0);
  DO(Win_create, 0, memory, sizeof memory, sizeof(int), MPI_INFO_NULL, own, &window);
  DO(Comm_free, 0, &own); /* the window outlives it */
  DO(Win_fence, 0, 0, window);
  DO(Put, 0, out, INTS(3), MPI_PROC_NULL, 0, INTS(3), window);
  DO(Get_accumulate, 12, RUBBISH, 0, MPI_INT, in, INTS(3), right_rank, 0, INTS(3), MPI_NO_OP, window);
  DO(Win_fence, 0, 0, window);
  DO(Win_free, 0, &window);
}

void every_file(const char *folder) {
  (void)folder;
}
