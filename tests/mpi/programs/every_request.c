/* every_request.c - waits and tests: many requests at once, persistent ones, null ones, cancelled ones.
 * SPDX-License-Identifier: MIT */
#include "tally.h"

#define MANY 100 /* of one byte, two bytes, three bytes ... */
static MPI_Request requests[2 * MANY];
static int indices[2 * MANY];

/* Request i has i / 2 + 1 bytes; even ones receive. */
static void begin(void) {
  for (int i = 0; i < MANY; i++) {
    DO(Irecv, i + 1, in + 256 * i, i + 1, MPI_BYTE, left_rank, i, MPI_COMM_WORLD, &requests[2 * i]);
    DO(Isend, i + 1, out, i + 1, MPI_BYTE, right_rank, i, MPI_COMM_WORLD, &requests[2 * i + 1]);
  }
}

static long long bytes_of(int index) {
  return index / 2 + 1;
}

static void some(int (*take)(int, MPI_Request *, int *, int *, MPI_Status *), const char *name) {
  begin();
  for (int left = 2 * MANY, count; left; left -= count) {
    long long bytes = 0;
    check(take(2 * MANY, requests, &count, indices, MPI_STATUSES_IGNORE), name, __LINE__);
    for (int i = 0; i < count; i++) bytes += bytes_of(indices[i]);
    tally(name, bytes);
  }
}

void every_request(void) {
  const long long all = (long long)MANY * (MANY + 1);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  int index, flag;
  begin();
  DO(Waitall, all, 2 * MANY, requests, MPI_STATUSES_IGNORE);
  begin();
  for (int left = 2 * MANY; left; left--) {
    check(MPI_Waitany(2 * MANY, requests, &index, &status), "Waitany", __LINE__);
    tally("MPI_Waitany", bytes_of(index));
  }
  DO(Waitany, 0, 2 * MANY, requests, &index, &status); /* all are null: MPI_UNDEFINED */
  some(MPI_Waitsome, "MPI_Waitsome");
  some(MPI_Testsome, "MPI_Testsome");
  begin();
  for (int left = 2 * MANY; left; left -= flag) {
    check(MPI_Testany(2 * MANY, requests, &index, &flag, MPI_STATUS_IGNORE), "Testany", __LINE__);
    tally("MPI_Testany", flag ? bytes_of(index) : 0);
  }
  begin();
  for (flag = 0; !flag;) {
    check(MPI_Testall(2 * MANY, requests, &flag, MPI_STATUSES_IGNORE), "Testall", __LINE__);
    tally("MPI_Testall", flag ? all : 0);
  }
  begin();
  for (int i = 0; i < 2 * MANY; i++) {
    for (flag = 0; !flag;) {
      check(MPI_Test(&requests[i], &flag, &status), "Test", __LINE__);
      tally("MPI_Test", flag ? bytes_of(i) : 0);
    }
  }
  /* Persistent: the same requests again and again, and a wait for those that are not started. */
  DO(Recv_init, 3, in, 3, MPI_BYTE, left_rank, 1, MPI_COMM_WORLD, &requests[0]);
  DO(Send_init, 3, out, 3, MPI_BYTE, right_rank, 1, MPI_COMM_WORLD, &requests[1]);
  for (int i = 0; i < 3; i++) {
    DO(Startall, 6, 2, requests);
    DO(Waitall, 6, 2, requests, MPI_STATUSES_IGNORE);
    DO(Waitall, 0, 2, requests, MPI_STATUSES_IGNORE);
  }
  DO(Request_free, 0, &requests[0]);
  DO(Request_free, 0, &requests[1]);
  DO(Wait, 0, &request, &status);
  DO(Irecv, 4, in, 4, MPI_BYTE, left_rank, 999, MPI_COMM_WORLD, &request);
  DO(Cancel, 0, &request);
  DO(Wait, 4, &request, &status);
}
