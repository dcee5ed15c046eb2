/* every_message.c - point to point: five integers to the rank on the right, from the one on the left.
 * SPDX-License-Identifier: MIT */
#include "tally.h"

#define FIVE 5, MPI_INT
#define BYTES 20
#define TO_RIGHT FIVE, right_rank, 7, MPI_COMM_WORLD
#define FROM_LEFT FIVE, left_rank, 7, MPI_COMM_WORLD

static MPI_Request receiving;

/* MPI_Rsend wants its receiver to be there. */
static void expect_message(void) {
  DO(Irecv, BYTES, in, FROM_LEFT, &receiving);
  DO(Barrier, 0, MPI_COMM_WORLD);
}
static void get_message(void) {
  DO(Wait, BYTES, &receiving, MPI_STATUS_IGNORE);
}
static void send_message(void) {
  DO(Isend, BYTES, out, TO_RIGHT, &receiving);
}

#define SEND(upper, lower)                                                                       \
  (expect_message(), DO(upper, BYTES, out, TO_RIGHT), get_message(), expect_message(),           \
   DO(I##lower, BYTES, out, TO_RIGHT, &request), FINISH(BYTES), get_message(), expect_message(), \
   DO(upper##_init, BYTES, out, TO_RIGHT, &request), CYCLE(BYTES), get_message())
#define SEND_LARGE(upper, lower)                                                                     \
  (expect_message(), DO(upper##_c, BYTES, out, TO_RIGHT), get_message(), expect_message(),           \
   DO(I##lower##_c, BYTES, out, TO_RIGHT, &request), FINISH(BYTES), get_message(), expect_message(), \
   DO(upper##_init_c, BYTES, out, TO_RIGHT, &request), CYCLE(BYTES), get_message())

static void sends(void) {
  static char room[1 << 16];
  MPI_Request request;
  int size = sizeof room;
  void *detached;
  MPI_Buffer_attach(room, size);
  SEND(Send, send);
  SEND(Bsend, bsend);
  SEND(Ssend, ssend);
  SEND(Rsend, rsend);
#if HAS_MPI_4
  SEND_LARGE(Send, send);
  SEND_LARGE(Bsend, bsend);
  SEND_LARGE(Ssend, ssend);
  SEND_LARGE(Rsend, rsend);
#endif
  MPI_Buffer_detach(&detached, &size);
}

static void receives(void) {
  MPI_Request request;
  MPI_Message message;
  MPI_Status status;
  send_message(), DO(Recv, BYTES, in, FROM_LEFT, &status), get_message();
  send_message(), DO(Recv_init, BYTES, in, FROM_LEFT, &request), CYCLE(BYTES), get_message();
  send_message(), DO(Mprobe, 0, left_rank, 7, MPI_COMM_WORLD, &message, &status);
  DO(Mrecv, BYTES, in, FIVE, &message, &status), get_message();
  send_message(), DO(Mprobe, 0, left_rank, 7, MPI_COMM_WORLD, &message, &status);
  DO(Imrecv, BYTES, in, FIVE, &message, &request), FINISH(BYTES), get_message();
#if HAS_MPI_4
  send_message(), DO(Irecv_c, BYTES, in, FROM_LEFT, &request), FINISH(BYTES), get_message();
  send_message(), DO(Recv_c, BYTES, in, FROM_LEFT, &status), get_message();
  send_message(), DO(Recv_init_c, BYTES, in, FROM_LEFT, &request), CYCLE(BYTES), get_message();
  send_message(), DO(Mprobe, 0, left_rank, 7, MPI_COMM_WORLD, &message, &status);
  DO(Mrecv_c, BYTES, in, FIVE, &message, &status), get_message();
  send_message(), DO(Mprobe, 0, left_rank, 7, MPI_COMM_WORLD, &message, &status);
  DO(Imrecv_c, BYTES, in, FIVE, &message, &request), FINISH(BYTES), get_message();
#endif
}

static void probes(void) {
  MPI_Message message;
  MPI_Status status;
  int is_there = 0;
  send_message();
  DO(Probe, 0, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  while (!is_there) DO(Iprobe, 0, left_rank, 7, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
  for (is_there = 0; !is_there;) DO(Improbe, 0, left_rank, 7, MPI_COMM_WORLD, &is_there, &message, &status);
  DO(Mrecv, BYTES, in, FIVE, &message, MPI_STATUS_IGNORE);
  get_message();
}

static void exchanges(void) {
  MPI_Status status;
  /* What is received does not count: two integers, then five. */
  DO(Sendrecv, 8, out, 2, MPI_INT, right_rank, 8, in, FIVE, left_rank, 8, MPI_COMM_WORLD, &status);
  DO(Sendrecv_replace, BYTES, out, FIVE, right_rank, 8, left_rank, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#if HAS_PERSISTENT
  {
    MPI_Request request;
    DO(Isendrecv, 8, out, 2, MPI_INT, right_rank, 8, in, FIVE, left_rank, 8, MPI_COMM_WORLD, &request), FINISH(8);
    DO(Isendrecv_replace, BYTES, out, FIVE, right_rank, 8, left_rank, 8, MPI_COMM_WORLD, &request), FINISH(BYTES);
#if HAS_MPI_4
    DO(Isendrecv_c, 8, out, 2, MPI_INT, right_rank, 8, in, FIVE, left_rank, 8, MPI_COMM_WORLD, &request), FINISH(8);
    DO(Isendrecv_replace_c, BYTES, out, FIVE, right_rank, 8, left_rank, 8, MPI_COMM_WORLD, &request), FINISH(BYTES);
#endif
  }
#endif
#if HAS_MPI_4
  DO(Sendrecv_c, 8, out, 2, MPI_INT, right_rank, 8, in, FIVE, left_rank, 8, MPI_COMM_WORLD, &status);
  DO(Sendrecv_replace_c, BYTES, out, FIVE, right_rank, 8, left_rank, 8, MPI_COMM_WORLD, &status);
#endif
}

/* Four partitions of three integers. */
static void partitions(void) {
#if HAS_PERSISTENT
  MPI_Request to, from;
  int last = 3, flag = 0;
  DO(Psend_init, 48, out, 4, 3, MPI_INT, right_rank, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &to);
  DO(Precv_init, 48, in, 4, 3, MPI_INT, left_rank, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &from);
  DO(Start, 48, &to);
  DO(Start, 48, &from);
  DO(Pready, 0, 0, to);
  DO(Pready_range, 0, 1, 2, to);
  DO(Pready_list, 0, 1, &last, to);
  while (!flag) DO(Parrived, 0, from, 0, &flag);
  DO(Wait, 48, &to, MPI_STATUS_IGNORE);
  DO(Wait, 48, &from, MPI_STATUS_IGNORE);
  DO(Request_free, 0, &to);
  DO(Request_free, 0, &from);
#endif
}

void every_message(void) {
  sends();
  receives();
  probes();
  exchanges();
  partitions();
}
