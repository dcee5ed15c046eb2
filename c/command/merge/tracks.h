/* tracks.h - which process and thread of a timeline an event belongs to.
 *
 * Process ids come again on other nodes, and other profilers number devices as processes. Here every process has a place
 * of its own: it keeps its id when nobody had it before, and gets one above the kernel's else.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TRACKS_H
#define DFTRACER_TRACKS_H

#include <stddef.h>
#include <stdint.h>

typedef struct track_thread {
  uint64_t tid;
  uint32_t origin; /* who recorded on it: 0 dftracer; others are guests */
  uint32_t shown;  /* in the timeline */
} track_thread;

typedef struct track_process {
  char *key;        /* "host/pid", or of a guest's "file/pid" */
  uint32_t shown;   /* process id in the timeline */
  uint64_t pid;     /* its own; UINT64_MAX: it was no number */
  int32_t rank;     /* -1: unknown */
  int is_guest;     /* of another profiler alone */
  char *name;       /* NULL: none known */
  char *main_name;  /* of its main thread, such as "DataLoader worker 1"; NULL: none of its own */
  char *host;       /* NULL: none known */
  int64_t shift_ns; /* its node's clock is moved by this */
  track_thread *threads;
  size_t thread_count, thread_room;
} track_process;

typedef struct tracks {
  track_process *list;
  size_t count, room;
  uint32_t *index; /* open addressing over keys, 0: empty, else place in the list + 1 */
  size_t index_room;
  uint32_t next_shown;
} tracks;

/* The process of that key; is made when it is not there. NULL: no memory. The pointer holds until the next call. */
track_process *tracks_process(tracks *of, const char *key, size_t len, uint64_t pid, int is_guest);

/* A process that dftracer recorded, by its rank or, with rank -1, by its pid; NULL when there is none, or more than one. */
track_process *tracks_host_of(tracks *of, int32_t rank, uint64_t pid);

/* The thread id to show. A guest's thread goes beside the one of the same number that dftracer recorded, because their
 * events do not nest. *is_new: it was not asked for before. */
uint32_t tracks_thread(track_process *of, uint64_t tid, uint32_t origin, int *is_new);

void tracks_free(tracks *of);

#endif
