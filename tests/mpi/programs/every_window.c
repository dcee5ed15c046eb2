/* every_window.c - one-sided: three integers to the rank on the right, in every kind of epoch.
 * SPDX-License-Identifier: MIT */
#include "tally.h"

#define THREE 3, MPI_INT
#define TARGET right_rank, 0, THREE

static MPI_Win window;
static MPI_Request request;

static void operations(void) {
  DO(Win_lock_all, 0, 0, window);
  DO(Put, 12, out, THREE, TARGET, window);
  DO(Win_flush, 0, right_rank, window);
  DO(Get, 12, in, THREE, TARGET, window);
  DO(Win_flush_local, 0, right_rank, window);
  DO(Accumulate, 12, out, THREE, TARGET, MPI_SUM, window);
  DO(Win_flush_all, 0, window);
  DO(Get_accumulate, 12, out, THREE, in, THREE, TARGET, MPI_SUM, window);
  DO(Win_flush_local_all, 0, window);
  DO(Fetch_and_op, 4, out, in, MPI_INT, right_rank, 0, MPI_SUM, window);
  DO(Compare_and_swap, 4, out, out, in, MPI_INT, right_rank, 0, window);
  DO(Rput, 12, out, THREE, TARGET, window, &request), FINISH(12);
  DO(Rget, 12, in, THREE, TARGET, window, &request), FINISH(12);
  DO(Raccumulate, 12, out, THREE, TARGET, MPI_SUM, window, &request), FINISH(12);
  DO(Rget_accumulate, 12, out, THREE, in, THREE, TARGET, MPI_SUM, window, &request), FINISH(12);
#if HAS_MPI_4
  DO(Put_c, 12, out, THREE, TARGET, window);
  DO(Get_c, 12, in, THREE, TARGET, window);
  DO(Accumulate_c, 12, out, THREE, TARGET, MPI_SUM, window);
  DO(Get_accumulate_c, 12, out, THREE, in, THREE, TARGET, MPI_SUM, window);
  DO(Rput_c, 12, out, THREE, TARGET, window, &request), FINISH(12);
  DO(Rget_c, 12, in, THREE, TARGET, window, &request), FINISH(12);
  DO(Raccumulate_c, 12, out, THREE, TARGET, MPI_SUM, window, &request), FINISH(12);
  DO(Rget_accumulate_c, 12, out, THREE, in, THREE, TARGET, MPI_SUM, window, &request), FINISH(12);
#endif
  DO(Win_sync, 0, window);
  DO(Win_unlock_all, 0, window);
}

static void epochs(void) {
  MPI_Group world, left, right;
  int is_over = 0;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &left_rank, &left);
  MPI_Group_incl(world, 1, &right_rank, &right);
  DO(Win_fence, 0, 0, window);
  DO(Put, 12, out, THREE, TARGET, window);
  DO(Win_fence, 0, 0, window);
  DO(Win_lock, 0, MPI_LOCK_SHARED, right_rank, 0, window);
  DO(Win_unlock, 0, right_rank, window);
  DO(Barrier, 0, MPI_COMM_WORLD);
  DO(Win_post, 0, left, 0, window);
  DO(Win_start, 0, right, 0, window);
  DO(Win_complete, 0, window);
  DO(Win_wait, 0, window);
  DO(Win_post, 0, left, 0, window);
  DO(Win_start, 0, right, 0, window);
  DO(Win_complete, 0, window);
  while (!is_over) DO(Win_test, 0, window, &is_over);
  MPI_Group_free(&world);
  MPI_Group_free(&left);
  MPI_Group_free(&right);
}

void every_window(void) {
  static int memory[64];
  void *base;
  DO(Win_create, 0, memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  epochs();
  operations();
  DO(Win_free, 0, &window);
  DO(Win_allocate, 0, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  DO(Win_free, 0, &window);
  DO(Win_allocate_shared, 0, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  DO(Win_free, 0, &window);
  DO(Win_create_dynamic, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  DO(Win_free, 0, &window);
#if HAS_MPI_4
  DO(Win_create_c, 0, memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  DO(Win_free, 0, &window);
  DO(Win_allocate_c, 0, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  DO(Win_free, 0, &window);
  DO(Win_allocate_shared_c, 0, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  DO(Win_free, 0, &window);
#endif
}
