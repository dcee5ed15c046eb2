/* io.c - plain POSIX calls; run with and without the preload library.
 *
 * Usage: io read FILE      a burst: 1024 reads of 4 KiB from a cached file; nanoseconds a read
 *        io files FOLDER   a burst: open, read and close of the next 250 of 10,000 small files; nanoseconds a file
 *        io make FOLDER    makes what these two need
 *
 * Processes that are compared live at the same time and take turns: each does one burst, prints its samples and "done" for
 * each line of its input, and its private memory at the end of that.
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"

enum {
  PIECE = 4096,
  PIECES = 4096,
  FILES = 10000,
  FILES_IN_A_FOLDER = 100,
  FILES_IN_A_BURST = 250,
  READS_IN_A_BURST = 1024
};

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

/* ---- Bursts ---- */

static void read_cached(const char *name) {
  static int fd = -1;
  timing start;
  if (fd < 0) fd = open(name, O_RDONLY);
  if (lseek(fd, 0, SEEK_CUR) == (off_t)PIECES * PIECE) lseek(fd, 0, SEEK_SET);
  start = now();
  for (int i = 0; i < READS_IN_A_BURST; i++) bench_require(read(fd, piece, sizeof piece) == PIECE, name);
  print_since(start, READS_IN_A_BURST);
}

static void read_files(const char *folder) {
  static int next;
  timing start = now();
  for (int i = 0; i < FILES_IN_A_BURST; i++, next = (next + 1) % FILES) {
    int fd = open(file_name(folder, next), O_RDONLY);
    bench_require(fd >= 0 && read(fd, piece, sizeof piece) == 1000 && close(fd) == 0, "a small file");
  }
  print_since(start, FILES_IN_A_BURST);
}

/* The next one's turn begins when no other thread of this process is at work any more. From the second turn on, when there is
 * a drain thread where there will be one, the calls are made on one and the same core. */
static void take_turns(void (*burst)(const char *), const char *name) {
  char line[16];
  for (int turn = 0; fgets(line, sizeof line, stdin); turn++) {
    if (turn == 1) bench_use_core(0);
    burst(name);
    bench_settle_ms(2);
    puts("done");
    fflush(stdout);
  }
  bench_print("private_kib", bench_memory_now().private_kib);
}

int main(int argc, char **argv) {
  bench_require(argc > 2, "usage: io make FOLDER | read FILE | files FOLDER");
  if (strcmp(argv[1], "make") == 0) make(argv[2]);
  else take_turns(strcmp(argv[1], "read") == 0 ? read_cached : read_files, argv[2]);
  return 0;
}
