/* again.c - ends its trace and begins the next, many times, while threads write elsewhere. Usage: again DATA TRACES ELSEWHERE
 *
 * What is written between dft_start and dft_stop goes to the file "on", what is not to "off", what the environment
 * began for to "first".
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TIMES = 100, THREADS = 2 };

static const char *data, *elsewhere;
static _Atomic int is_over;

static void require(int holds, const char *what) {
  if (holds) return;
  perror(what);
  exit(1);
}

static void append(const char *folder, const char *name) {
  char path[4096];
  int fd;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  require(fd >= 0 && write(fd, "x", 1) == 1 && close(fd) == 0, path);
}

static void *write_on(void *unused) {
  while (!is_over) append(elsewhere, "any");
  return unused;
}

int main(int argc, char **argv) {
  pthread_t threads[THREADS];
  if (argc < 4) return 2;
  data = argv[1];
  elsewhere = argv[3];
  append(data, "first");
  dft_stop();
  append(data, "off");
  for (int i = 0; i < THREADS; i++) require(pthread_create(&threads[i], NULL, write_on, NULL) == 0, "a thread");
  for (int i = 0; i < TIMES; i++) {
    char log[4096];
    dft_options options = {sizeof options, log, data};
    snprintf(log, sizeof log, "%s/again%d.pfw", argv[2], i);
    require(dft_start(&options) == DFT_OK, "dft_start");
    append(data, "on");
    require(dft_stop() == DFT_OK, "dft_stop");
    append(data, "off");
  }
  is_over = 1;
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  return 0;
}
