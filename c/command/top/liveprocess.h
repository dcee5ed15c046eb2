/* liveprocess.h - looks into the spool of a running process without disturbing it: how much the process has recorded, and
 * what its threads are doing now. A spool changes while it is read. The numbers are those of some moment, and nothing in it is
 * used before it is checked.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_LIVEPROCESS_H
#define DFTRACER_LIVEPROCESS_H

#include <limits.h>
#include <stdint.h>

#define LIVE_THREADS 64
#define LIVE_REGIONS 4 /* the innermost ones of a thread */
#define LIVE_TEXT 64
#define LIVE_PATH 512

typedef struct live_region {
  char name[LIVE_TEXT];
  double seconds; /* how long it has been open */
} live_region;

typedef struct live_thread {
  uint32_t tid;
  uint32_t depth;                    /* number of open regions */
  uint32_t count;                    /* how many of them are in `regions` */
  live_region regions[LIVE_REGIONS]; /* the outermost first */
} live_thread;

typedef struct live_process {
  char path[PATH_MAX]; /* of its spool */
  char host[72];
  char program[16]; /* its name, as the kernel has it; empty: not known */
  uint32_t pid;
  int32_t rank;     /* -1: unknown */
  int is_alive;     /* -1: unknown, it is of another node or container */
  uint64_t events;  /* recorded so far */
  uint64_t waiting; /* of these: not written out yet */
  uint64_t dropped;
  uint64_t written_bytes;
  int has_traffic;       /* the next two are known: the process is one of this node, and of this user */
  uint64_t read_bytes;   /* by all its calls that read, as the kernel counts them, on whatever file or pipe */
  uint64_t write_bytes;  /* by those that write, without what dftracer wrote */
  char call[LIVE_TEXT];  /* the latest I/O call that is not written out yet; empty: none */
  char file[LIVE_PATH];  /* its file */
  double call_seconds;   /* since it ended */
  double age;            /* seconds since the trace was opened */
  uint32_t thread_count; /* threads with open regions; the first LIVE_THREADS of them are described */
  live_thread threads[LIVE_THREADS];
} live_process;

/* Zero when this is not a spool of this version, or cannot be read. */
int live_process_read(live_process *process, const char *path);

/* Calls back for every spool of the trace folders at or below `folder`. Zero, with errno, when the folder cannot be read. */
int live_process_each(char *folder, void (*call)(const char *spool, void *context), void *context);

#endif
