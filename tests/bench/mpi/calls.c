/* calls.c - MPI calls of one process with itself: with an empty wrapper, and recorded.
 *
 * Usage: calls MODE. For each line of its input it does one burst, and prints nanoseconds a call, or a group of them, and
 * "done". MODE is allreduce (8 bytes) or requests (Isend, Irecv and Waitall of both). SPDX-License-Identifier: MIT */
#include <mpi.h>

#define BENCH_PEER 1 /* without dftracer */
#include "bench.h"

enum { BURST = 2000 };

static void allreduce(void) {
  double from = 1, to;
  for (int i = 0; i < BURST; i++) MPI_Allreduce(&from, &to, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

static void requests(void) {
  int from = 1, to;
  for (int i = 0; i < BURST; i++) {
    MPI_Request both[2];
    MPI_Isend(&from, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &both[0]);
    MPI_Irecv(&to, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  }
}

int main(int argc, char **argv) {
  void (*burst)(void) = argc > 1 && strcmp(argv[1], "requests") == 0 ? requests : allreduce;
  char line[64];
  MPI_Init(&argc, &argv);
  while (fgets(line, sizeof line, stdin)) {
    uint64_t start = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    burst();
    bench_print("call", (double)(bench_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) / BURST);
    bench_settle();
    puts("done");
    fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
