/* io.c - plain POSIX calls; run with and without the preload library.
 *
 * Usage: io read BURSTS FILE      reads of 4 KiB from a cached file, 4096 in a burst: nanoseconds a read
 *        io files ROUNDS FOLDER   open, read and close of 10,000 small files: nanoseconds a file; then its private memory
 *        io make FOLDER           makes what these two need
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"

enum { PIECE = 4096, PIECES = 4096, FILES = 10000, FILES_IN_A_FOLDER = 100 };

static char piece[PIECE];

static const char *file_name(const char *folder, int number) {
  static char name[4096];
  snprintf(name, sizeof name, "%s/part-%d/sample-%d", folder, number / FILES_IN_A_FOLDER, number);
  return name;
}

/* Wall time, and what this thread itself took: on a busy machine the drain thread takes the core from it. */
typedef struct timing {
  uint64_t wall_ns, cpu_ns;
} timing;

static timing now(void) {
  return (timing){bench_now_ns(), bench_clock_ns(CLOCK_THREAD_CPUTIME_ID)};
}

static void print_since(timing start, int count) {
  timing end = now();
  bench_print("wall", (double)(end.wall_ns - start.wall_ns) / count);
  bench_print("cpu", (double)(end.cpu_ns - start.cpu_ns) / count);
}

static void make(const char *folder) {
  char name[4096];
  int fd;
  memset(piece, 'x', sizeof piece);
  snprintf(name, sizeof name, "%s/cached", folder);
  bench_require((fd = open(name, O_WRONLY | O_CREAT, 0600)) >= 0, name);
  for (int i = 0; i < PIECES; i++) bench_require(write(fd, piece, sizeof piece) == PIECE, "write");
  close(fd);
  for (int i = 0; i < FILES; i++) {
    snprintf(name, sizeof name, "%s/part-%d", folder, i / FILES_IN_A_FOLDER);
    if (i % FILES_IN_A_FOLDER == 0) bench_require(mkdir(name, 0700) == 0, name);
    bench_require((fd = open(file_name(folder, i), O_WRONLY | O_CREAT, 0600)) >= 0, "open");
    bench_require(write(fd, piece, 1000) == 1000, "write");
    close(fd);
  }
}

static void read_cached(int bursts, const char *name) {
  int fd = open(name, O_RDONLY);
  bench_require(fd >= 0, name);
  for (int burst = -1; burst < bursts; burst++) {
    timing start;
    bench_require(lseek(fd, 0, SEEK_SET) == 0, "lseek");
    start = now();
    for (int i = 0; i < PIECES; i++) bench_require(read(fd, piece, sizeof piece) == PIECE, "read");
    if (burst >= 0) print_since(start, PIECES);
  }
  close(fd);
}

static void read_files(int rounds, const char *folder) {
  for (int round = 0; round < rounds; round++) {
    timing start = now();
    for (int i = 0; i < FILES; i++) {
      int fd = open(file_name(folder, i), O_RDONLY);
      bench_require(fd >= 0 && read(fd, piece, sizeof piece) == 1000 && close(fd) == 0, "a small file");
    }
    print_since(start, FILES);
  }
  bench_print("private_kib", bench_memory_now().private_kib);
}

int main(int argc, char **argv) {
  bench_require(argc > 2, "usage: io make FOLDER | read BURSTS FILE | files ROUNDS FOLDER");
  if (strcmp(argv[1], "make") == 0) make(argv[2]);
  else if (strcmp(argv[1], "read") == 0) read_cached(atoi(argv[2]), argv[3]);
  else read_files(atoi(argv[2]), argv[3]);
  return 0;
}
