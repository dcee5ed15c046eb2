/* every.c - makes every MPI call that dftracer records, and writes how often and with how many bytes into FOLDER/RANK.
 * SPDX-License-Identifier: MIT */
#include "tally.h"

int me, ranks, left_rank, right_rank;
char out[1 << 16], in[1 << 16];

static struct row {
  const char *name;
  long long calls, bytes;
} rows[400];

void tally(const char *name, long long bytes) {
  struct row *row = rows;
  while (row->name && strcmp(row->name, name) != 0) row++;
  row->name = name;
  row->calls++;
  row->bytes += bytes;
}

void check(int code, const char *name, int line) {
  if (code == MPI_SUCCESS) return;
  fprintf(stderr, "MPI_%s, line %d: %d\n", name, line, code);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv) {
  char path[1024];
  FILE *file;
  int provided;
  if (argc != 3) return 2;
  if (strcmp(argv[2], "plain") == 0) DO(Init, 0, &argc, &argv);
  else DO(Init_thread, 0, &argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  right_rank = (me + 1) % ranks;
  left_rank = (me + ranks - 1) % ranks;
  every_message();
  every_request();
  every_collective();
  every_window();
  every_communicator();
  every_file(argv[1]);
  DO(Finalize, 0);
  snprintf(path, sizeof path, "%s/%d", argv[1], me);
  file = fopen(path, "w");
  if (!file) return 3;
  for (const struct row *row = rows; row->name; row++)
    fprintf(file, "%s %lld %lld\n", row->name, row->calls, row->bytes);
  return fclose(file) ? 4 : 0;
}
