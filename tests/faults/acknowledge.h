/* acknowledge.h - the shared page in which a recording program says which calls have returned.
 *
 * A file mapped MAP_SHARED, made by the test that will kill the program: like the spool it outlives it. page.py reads it.
 * SPDX-License-Identifier: MIT */
#ifndef ACKNOWLEDGE_H
#define ACKNOWLEDGE_H

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define ACKNOWLEDGE_THREADS 4
#define ACKNOWLEDGE_SLOTS 65536

typedef struct acknowledged {
  _Atomic uint64_t tid;
  _Atomic uint64_t life;  /* 1: the region around everything has begun */
  _Atomic uint64_t begun; /* the number of the region begun last */
  _Atomic uint64_t done;  /* the number of the event recorded last */
  _Atomic uint64_t pid;
  uint64_t padding[11]; /* a thread's counters lie on cache lines of their own */
} acknowledged;

typedef struct acknowledge_page {
  acknowledged thread[ACKNOWLEDGE_THREADS];
  _Atomic uint64_t cycles; /* traces that were stopped */
  _Atomic uint64_t
    claimed; /* of the slots below: for programs that do not know how many threads and children they make */
  uint64_t padding[14];
  acknowledged slot[ACKNOWLEDGE_SLOTS];
} acknowledge_page;

static acknowledge_page *acknowledge_open(const char *path) {
  int fd = open(path, O_RDWR);
  void *page = mmap(NULL, sizeof(acknowledge_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (fd < 0 || page == MAP_FAILED) abort();
  return page;
}

#endif
