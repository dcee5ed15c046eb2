/* every_collective.c - collectives: blocking, non-blocking, persistent, large, in place, and on a ring of neighbours.
 * SPDX-License-Identifier: MIT */
#include "tally.h"

#define WORLD MPI_COMM_WORLD
#define MOST 64

#define FORMS(upper, lower, bytes, ...) \
  (DO(upper, bytes, __VA_ARGS__), DO(I##lower, bytes, __VA_ARGS__, &request), FINISH(bytes))
#define PERSISTENT(upper, bytes, ...) (DO(upper##_init, bytes, __VA_ARGS__, MPI_INFO_NULL, &request), CYCLE(bytes))
#define LARGE(upper, lower, bytes, ...)                                                              \
  (DO(upper##_c, bytes, __VA_ARGS__), DO(I##lower##_c, bytes, __VA_ARGS__, &request), FINISH(bytes), \
   DO(upper##_init_c, bytes, __VA_ARGS__, MPI_INFO_NULL, &request), CYCLE(bytes))

#if HAS_PERSISTENT
#define SMALL(upper, lower, bytes, ...) (FORMS(upper, lower, bytes, __VA_ARGS__), PERSISTENT(upper, bytes, __VA_ARGS__))
#else
#define SMALL(upper, lower, bytes, ...) FORMS(upper, lower, bytes, __VA_ARGS__)
#endif
#if HAS_MPI_4
#define ALL(upper, lower, bytes, ...) (SMALL(upper, lower, bytes, __VA_ARGS__), LARGE(upper, lower, bytes, __VA_ARGS__))
#else
#define ALL(upper, lower, bytes, ...) SMALL(upper, lower, bytes, __VA_ARGS__)
#endif

static int counts[MOST], mine[MOST], places[MOST]; /* rank i gets i + 1; this rank has me + 1 for each */
static MPI_Datatype ints[MOST];
#if HAS_MPI_4
static MPI_Count counts_c[MOST], mine_c[MOST];
static MPI_Aint places_c[MOST];
#endif
static MPI_Request request;

static void of_one_size(void) {
  long long root_bytes = me == 0 ? 8 * ranks : 8;
  DO(Barrier, 0, WORLD);
  DO(Ibarrier, 0, WORLD, &request), FINISH(0);
#if HAS_PERSISTENT
  DO(Barrier_init, 0, WORLD, MPI_INFO_NULL, &request), CYCLE(0);
#endif
  ALL(Bcast, bcast, 12, in, 3, MPI_INT, 0, WORLD);
  ALL(Reduce, reduce, 12, out, in, 3, MPI_INT, MPI_SUM, 0, WORLD);
  ALL(Allreduce, allreduce, 12, out, in, 3, MPI_INT, MPI_SUM, WORLD);
  ALL(Gather, gather, 8, out, 2, MPI_INT, in, 2, MPI_INT, 0, WORLD);
  ALL(Scatter, scatter, root_bytes, out, 2, MPI_INT, in, 2, MPI_INT, 0, WORLD);
  ALL(Allgather, allgather, 8, out, 2, MPI_INT, in, 2, MPI_INT, WORLD);
  ALL(Alltoall, alltoall, 8 * ranks, out, 2, MPI_INT, in, 2, MPI_INT, WORLD);
  ALL(Reduce_scatter_block, reduce_scatter_block, 8 * ranks, out, in, 2, MPI_INT, MPI_SUM, WORLD);
  ALL(Scan, scan, 12, out, in, 3, MPI_INT, MPI_SUM, WORLD);
  ALL(Exscan, exscan, 12, out, in, 3, MPI_INT, MPI_SUM, WORLD);
}

static void of_many_sizes(void) {
  long long own = 4 * (me + 1), all = 2 * ranks * (ranks + 1), each = own * ranks;
  SMALL(Gatherv, gatherv, own, out, me + 1, MPI_INT, in, counts, places, MPI_INT, 0, WORLD);
  SMALL(Scatterv, scatterv, me == 0 ? all : own, out, counts, places, MPI_INT, in, me + 1, MPI_INT, 0, WORLD);
  SMALL(Allgatherv, allgatherv, own, out, me + 1, MPI_INT, in, counts, places, MPI_INT, WORLD);
  SMALL(Alltoallv, alltoallv, each, out, mine, places, MPI_INT, in, counts, places, MPI_INT, WORLD);
  SMALL(Alltoallw, alltoallw, each, out, mine, places, ints, in, counts, places, ints, WORLD);
  SMALL(Reduce_scatter, reduce_scatter, all, out, in, counts, MPI_INT, MPI_SUM, WORLD);
#if HAS_MPI_4
  LARGE(Gatherv, gatherv, own, out, me + 1, MPI_INT, in, counts_c, places_c, MPI_INT, 0, WORLD);
  LARGE(Scatterv, scatterv, me == 0 ? all : own, out, counts_c, places_c, MPI_INT, in, me + 1, MPI_INT, 0, WORLD);
  LARGE(Allgatherv, allgatherv, own, out, me + 1, MPI_INT, in, counts_c, places_c, MPI_INT, WORLD);
  LARGE(Alltoallv, alltoallv, each, out, mine_c, places_c, MPI_INT, in, counts_c, places_c, MPI_INT, WORLD);
  LARGE(Alltoallw, alltoallw, each, out, mine_c, places_c, ints, in, counts_c, places_c, ints, WORLD);
  LARGE(Reduce_scatter, reduce_scatter, all, out, in, counts_c, MPI_INT, MPI_SUM, WORLD);
#endif
}

/* Two neighbours on a ring: one integer to one, two to the other. */
static void of_neighbors(void) {
  static int to[2] = {1, 2}, from[2] = {2, 1}, at[2] = {0, 1024};
  static MPI_Aint bytes_at[2] = {0, 4096};
  int period = 1;
  MPI_Comm ring;
  DO(Cart_create, 0, WORLD, 1, &ranks, &period, 0, &ring);
  ALL(Neighbor_allgather, neighbor_allgather, 8, out, 2, MPI_INT, in, 2, MPI_INT, ring);
  ALL(Neighbor_alltoall, neighbor_alltoall, 16, out, 2, MPI_INT, in, 2, MPI_INT, ring);
  {
    static int two[2] = {2, 2};
    SMALL(Neighbor_allgatherv, neighbor_allgatherv, 8, out, 2, MPI_INT, in, two, at, MPI_INT, ring);
  }
  SMALL(Neighbor_alltoallv, neighbor_alltoallv, 12, out, to, at, MPI_INT, in, from, at, MPI_INT, ring);
  SMALL(Neighbor_alltoallw, neighbor_alltoallw, 12, out, to, bytes_at, ints, in, from, bytes_at, ints, ring);
#if HAS_MPI_4
  {
    static MPI_Count two[2] = {2, 2}, to_c[2] = {1, 2}, from_c[2] = {2, 1};
    static MPI_Aint at_c[2] = {0, 1024};
    LARGE(Neighbor_allgatherv, neighbor_allgatherv, 8, out, 2, MPI_INT, in, two, at_c, MPI_INT, ring);
    LARGE(Neighbor_alltoallv, neighbor_alltoallv, 12, out, to_c, at_c, MPI_INT, in, from_c, at_c, MPI_INT, ring);
    LARGE(Neighbor_alltoallw, neighbor_alltoallw, 12, out, to_c, bytes_at, ints, in, from_c, bytes_at, ints, ring);
  }
#endif
  DO(Comm_free, 0, &ring);
}

/* Nobody is beyond the ends of a row. */
static void of_neighbors_in_a_row(void) {
  static int to[2] = {1, 2}, from[2] = {2, 1}, at[2] = {0, 1024};
  static MPI_Aint bytes_at[2] = {0, 4096};
  int period = 0, before = me > 0, behind = me < ranks - 1;
  MPI_Comm row;
  DO(Cart_create, 0, WORLD, 1, &ranks, &period, 0, &row);
  FORMS(Neighbor_alltoall, neighbor_alltoall, 8 * (before + behind), out, 2, MPI_INT, in, 2, MPI_INT, row);
  FORMS(Neighbor_alltoallv, neighbor_alltoallv, 4 * before + 8 * behind, out, to, at, MPI_INT, in, from, at, MPI_INT,
        row);
  FORMS(Neighbor_alltoallw, neighbor_alltoallw, 4 * before + 8 * behind, out, to, bytes_at, ints, in, from, bytes_at,
        ints, row);
  DO(Comm_free, 0, &row);
}

void every_collective(void) {
  for (int i = 0; i < ranks; i++) {
    counts[i] = i + 1;
    mine[i] = me + 1;
    places[i] = 256 * i;
    ints[i] = MPI_INT;
#if HAS_MPI_4
    counts_c[i] = i + 1;
    mine_c[i] = me + 1;
    places_c[i] = 256 * i;
#endif
  }
  of_one_size();
  of_many_sizes();
  of_neighbors();
  of_neighbors_in_a_row();
}
