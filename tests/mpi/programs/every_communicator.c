/* every_communicator.c - makes communicators in every way that needs no second job.
 * SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tally.h"

#define WORLD MPI_COMM_WORLD

static MPI_Comm made;
#define MAKE(name, ...) (DO(name, 0, __VA_ARGS__, &made), use())

/* Four bytes through each, so that it is known to work. */
static void use(void) {
  if (made == MPI_COMM_NULL) return;
  DO(Allreduce, 4, out, in, 1, MPI_INT, MPI_SUM, made);
  DO(Comm_free, 0, &made);
}

static void inter(void) {
  MPI_Comm half, both;
  int is_low = me < ranks / 2;
  DO(Comm_split, 0, WORLD, is_low, me, &half);
  DO(Intercomm_create, 0, half, 0, WORLD, is_low ? ranks / 2 : 0, 3, &both);
  MAKE(Intercomm_merge, both, is_low);
  DO(Comm_disconnect, 0, &both);
  DO(Comm_free, 0, &half);
}

/* The first two ranks, by a socket. Debian's MPICH 4.0 waits in it for ever. */
static void join(void) {
#if !defined(MPICH) || MPICH_NUMVERSION >= 50000000
  struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t len = sizeof place;
  const int made_here = socket(AF_INET, SOCK_STREAM, 0);
  int joined = made_here;
  if (me == 0) {
    bind(made_here, (struct sockaddr *)&place, len);
    listen(made_here, 1);
    getsockname(made_here, (struct sockaddr *)&place, &len);
    DO(Send, sizeof place, &place, sizeof place, MPI_BYTE, 1, 9, WORLD);
    joined = accept(made_here, NULL, NULL);
  } else if (me == 1) {
    DO(Recv, sizeof place, &place, sizeof place, MPI_BYTE, 0, 9, WORLD, MPI_STATUS_IGNORE);
    connect(made_here, (struct sockaddr *)&place, len);
  }
  if (me < 2) {
    DO(Comm_join, 0, joined, &made);
    DO(Comm_free, 0, &made);
  }
  if (joined != made_here) close(joined);
  close(made_here);
#endif
}

#if HAS_PERSISTENT
static void halves(MPI_Group all) {
  int low[1][3] = {{0, ranks / 2 - 1, 1}}, high[1][3] = {{ranks / 2, ranks - 1, 1}};
  int is_low = me < ranks / 2;
  MPI_Group group, other;
  MPI_Group_range_incl(all, 1, is_low ? low : high, &group);
  MPI_Group_range_incl(all, 1, is_low ? high : low, &other);
  MAKE(Intercomm_create_from_groups, group, 0, other, 0, "halves", MPI_INFO_NULL, MPI_ERRORS_RETURN);
  MPI_Group_free(&group);
  MPI_Group_free(&other);
}
#endif

void every_communicator(void) {
  static int zero;
  int period = 1, remain = 1, degree = 1, nodes[64], edges[64];
  MPI_Request request;
  MPI_Group group;
  MPI_Comm ring;
  MPI_Comm_group(WORLD, &group);
  for (int i = 0; i < ranks; i++) {
    nodes[i] = i + 1; /* each has one neighbour, the next */
    edges[i] = (i + 1) % ranks;
  }
  MAKE(Comm_dup, WORLD);
  MAKE(Comm_dup_with_info, WORLD, MPI_INFO_NULL);
  DO(Comm_idup, 0, WORLD, &made, &request), FINISH(0), use();
  MAKE(Comm_split, WORLD, me % 2, -me);
  MAKE(Comm_split, WORLD, me == 0 ? MPI_UNDEFINED : 0, 0);
  MAKE(Comm_split_type, WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL);
  MAKE(Comm_create, WORLD, group);
  MAKE(Comm_create_group, WORLD, group, 5);
  DO(Cart_create, 0, WORLD, 1, &ranks, &period, 0, &ring);
  MAKE(Cart_sub, ring, &remain);
  DO(Comm_free, 0, &ring);
  MAKE(Graph_create, WORLD, ranks, nodes, edges, 0);
  MAKE(Dist_graph_create, WORLD, 1, &me, &degree, &right_rank, MPI_UNWEIGHTED, MPI_INFO_NULL, 0);
  MAKE(Dist_graph_create_adjacent, WORLD, 1, &left_rank, MPI_UNWEIGHTED, 1, &right_rank, MPI_UNWEIGHTED, MPI_INFO_NULL,
       zero);
  inter();
  join();
#if HAS_PERSISTENT
  DO(Comm_idup_with_info, 0, WORLD, MPI_INFO_NULL, &made, &request), FINISH(0), use();
  {
    MPI_Session session;
    MPI_Group of_session;
    DO(Session_init, 0, MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &of_session);
    MAKE(Comm_create_from_group, of_session, "dftracer", MPI_INFO_NULL, MPI_ERRORS_RETURN);
    MPI_Group_free(&of_session);
    halves(group);
    DO(Session_finalize, 0, &session);
  }
#endif
  MPI_Group_free(&group);
}
