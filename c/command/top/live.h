/* live.h - looks into the spool of a running process, without touching it: how much it has recorded, and what its threads
 * are doing now. Everything in a spool changes while it is read, so numbers are those of some moment, and nothing in it is
 * believed before it is checked.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_LIVE_H
#define DFTRACER_LIVE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_THREADS 64
#define LIVE_REGIONS 4 /* of a thread: the innermost ones */
#define LIVE_TEXT 64

typedef struct live_region {
  char name[LIVE_TEXT];
  double seconds; /* it is open since */
} live_region;

typedef struct live_thread {
  uint32_t tid;
  uint32_t depth;
  uint32_t count;
  live_region regions[LIVE_REGIONS]; /* outermost of these first */
} live_thread;

typedef struct live {
  char path[PATH_MAX];
  char host[72];
  uint32_t pid;
  int32_t rank;     /* -1: unknown */
  int is_here;      /* a process of this node; else nobody can tell whether it lives */
  int is_alive;     /* of those that are here */
  uint64_t events;  /* recorded so far */
  uint64_t waiting; /* of these: not written out yet */
  uint64_t dropped;
  uint64_t written_bytes;
  double age;            /* seconds since the trace was opened */
  uint32_t thread_count; /* with open regions; LIVE_THREADS of them are told */
  live_thread threads[LIVE_THREADS];
} live;

/* Zero when it is no spool of this version, or cannot be read. */
int live_read(live *of, const char *path);

/* Calls for every spool of trace folders at or below `folder`. Zero when the folder cannot be read; errno tells. */
int live_each(char *folder, void (*call)(const char *spool, void *context), void *context);

#endif
