/* tracks.h - the processes and threads of a timeline.
 *
 * Process ids repeat on other nodes, and other profilers number devices as processes. Here every process has a track of its
 * own. It keeps its process id when that is still free, otherwise it gets one above the kernel's range.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TRACKS_H
#define DFTRACER_TRACKS_H

#include <stddef.h>
#include <stdint.h>

#include "nodeclock.h"

typedef struct track_thread {
  uint64_t tid;
  uint32_t origin; /* who recorded it: 0 is dftracer, others are guests */
  uint32_t shown;  /* thread id in the timeline */
} track_thread;

typedef struct track_process {
  char *key;        /* "host/pid"; of a guest "guest NUMBER/pid" */
  uint32_t shown;   /* process id in the timeline */
  uint64_t pid;     /* its real id; UINT64_MAX: it is not a number */
  int32_t rank;     /* -1: unknown */
  int is_guest;     /* only another profiler recorded it */
  char *name;       /* NULL: none known */
  char *main_name;  /* of its main thread, such as "DataLoader worker 1"; NULL: it has none */
  char *host;       /* NULL: none known */
  node_clock clock; /* how its node's clock is corrected */
  track_thread *threads;
  size_t thread_count, thread_room;
} track_process;

typedef struct track_list {
  track_process *list;
  size_t count, room;
  uint32_t *index; /* open addressing over keys; 0: empty, otherwise the place in the list + 1 */
  size_t index_room;
  uint32_t next_shown;
} track_list;

/* Finds or makes the process of that key. NULL: no memory. The pointer is valid until the next call. */
track_process *tracks_process(track_list *tracks, const char *key, size_t len, uint64_t pid, int is_guest);

/* The process that dftracer recorded with this pid and, if both are known, this rank. NULL: none, or more than one. */
track_process *tracks_host_of(track_list *tracks, int32_t rank, uint64_t pid);

/* The thread id to show. A guest's thread gets a track beside the thread with the same id that dftracer recorded, because
 * their events do not nest. *is_new is set when the thread was not seen before. */
uint32_t tracks_thread(track_process *process, uint64_t tid, uint32_t origin, int *is_new);

void tracks_free(track_list *tracks);

#endif
