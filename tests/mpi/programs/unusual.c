/* unusual.c - MPI as few programs use it: argv[1] says how.
 * SPDX-License-Identifier: MIT */

#include "tally.h"

int me, ranks;

/* Without MPI_Init: four ranks, of which two and two are in one communicator. */
static int sessions(void) {
#if HAS_PERSISTENT
  MPI_Session session;
  MPI_Group all, half;
  MPI_Comm comm;
  int own[2], rank, size, got = -1;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  MPI_Group_rank(all, &me);
  own[0] = me % 2 ? 3 : 2; /* the higher one is rank 0 */
  own[1] = own[0] - 2;
  MPI_Group_incl(all, 2, own, &half);
  MPI_Comm_create_from_group(half, "halves", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Sendrecv(&me, 1, MPI_INT, 1 - rank, 4, &got, 1, MPI_INT, 1 - rank, 4, comm, MPI_STATUS_IGNORE);
  MPI_Barrier(comm);
  MPI_Comm_free(&comm);
  MPI_Group_free(&half);
  MPI_Group_free(&all);
  MPI_Session_finalize(&session);
  return got != own[1 - rank];
#else
  return 1;
#endif
}

static int ports(void) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm both;
  int got = -1;
  if (me == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (me == 0) MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &both);
  else MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &both);
  MPI_Sendrecv(&me, 1, MPI_INT, 0, 3, &got, 1, MPI_INT, 0, 3, both, MPI_STATUS_IGNORE);
  MPI_Comm_disconnect(&both);
  return got != 1 - me;
}

/* Each thread of a team reduces and exchanges in a communicator of its own. */
static int teams(void) {
  MPI_Comm comms[4];
  int bad = 0;
  for (int i = 0; i < 4; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
#pragma omp parallel for num_threads(4) schedule(static, 1) reduction(+ : bad)
  for (int thread = 0; thread < 4; thread++) {
    for (int i = 0; i < 50; i++) {
      int sum = 0, got = -1;
      MPI_Request request;
      MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comms[thread]);
      MPI_Irecv(&got, 1, MPI_INT, (me + 1) % ranks, i, comms[thread], &request);
      MPI_Send(&i, 1, MPI_INT, (me + ranks - 1) % ranks, i, comms[thread]);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      bad += sum != i * ranks || got != i;
    }
  }
  for (int i = 0; i < 4; i++) MPI_Comm_free(&comms[i]);
  return bad;
}

static int variables(void) {
  int provided, count = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_T_cvar_get_num(&count);
  MPI_T_finalize();
  return count == 0;
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  int provided, bad = 0;
  if (strcmp(how, "sessions") == 0) return sessions();
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (strcmp(how, "ports") == 0) bad = ports();
  else if (strcmp(how, "teams") == 0) bad = teams();
  else if (strcmp(how, "variables") == 0) bad = variables();
  MPI_Finalize();
  return bad != 0;
}
