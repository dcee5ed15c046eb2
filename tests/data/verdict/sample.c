/* sample.c - what was recorded for the traces beside: a metadata storm, small random reads, or writes at the speed of a disk.
 *
 *   cc sample.c -o sample
 *   ./sample prepare                                          # the file that it reads, not traced
 *   dftracer run --io --out out -- ./sample metadata          # then reads, writes
 *
 * It makes its files in the current folder and removes them. SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES 500
#define READS 2000
#define READ_BYTES 4096
#define FILE_BYTES (64L << 20)
#define WRITES 30
#define WRITE_BYTES (8 << 20)

static char buffer[WRITE_BYTES];

static void storm(void) {
  char name[40];
  struct stat status;
  mkdir("storm", 0700);
  for (int i = 0; i < FILES; i++) {
    int fd;
    snprintf(name, sizeof name, "storm/part-%04d", i);
    fd = open(name, O_WRONLY | O_CREAT, 0600);
    if (fd >= 0) close(fd);
    stat(name, &status);
    unlink(name);
  }
  rmdir("storm");
}

static void prepare(void) {
  int fd = open("field.bin", O_RDWR | O_CREAT, 0600);
  for (long at = 0; at < FILE_BYTES; at += WRITE_BYTES) {
    if (pwrite(fd, buffer, WRITE_BYTES, at) != WRITE_BYTES) exit(1);
  }
  fsync(fd);
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); /* or the reads would come from memory */
  close(fd);
}

static void read_at_random(void) {
  int fd = open("field.bin", O_RDONLY);
  posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
  for (int i = 0; i < READS; i++) {
    long at = random() % (FILE_BYTES / READ_BYTES) * READ_BYTES;
    if (pread(fd, buffer, READ_BYTES, at) != READ_BYTES) exit(1);
  }
  close(fd);
  unlink("field.bin");
}

static void write_in_sync(void) {
  int fd = open("output.bin", O_WRONLY | O_CREAT | O_DSYNC, 0600); /* so that a write ends when the disk has it */
  for (int i = 0; i < WRITES; i++) {
    if (write(fd, buffer, WRITE_BYTES) != WRITE_BYTES) exit(1);
  }
  close(fd);
  unlink("output.bin");
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "metadata") == 0) storm();
  if (strcmp(what, "prepare") == 0) prepare();
  if (strcmp(what, "reads") == 0) read_at_random();
  if (strcmp(what, "writes") == 0) write_in_sync();
  return 0;
}
