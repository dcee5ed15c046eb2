/* meetings.h - which calls of collectives belong together: on each communicator of MPI, the n-th of one rank meets the n-th of
 * every other rank, whatever its name. A meeting of calls with different names means that something is missing. Calls that
 * were annotated by hand have no communicator: those of one name are taken for those of one.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_MEETINGS_H
#define DFTRACER_MEETINGS_H

#include "command/summary/state/summarystate.h"

/* One rank of a communicator. */
typedef struct meeting_member {
  uint32_t process;
  int64_t rank;
  arrival call; /* that meets the others */
} meeting_member;

/* A communicator: members in the order of their ranks. */
typedef struct communicator {
  uint32_t is_mpi;
  uint32_t id, size;     /* of MPI; else id is the name, and size 0 */
  uint32_t first, count; /* its lists in `lists` below */
  uint32_t members;
  uint64_t least, most; /* calls of the rank with the fewest, and of that with the most */
  const char *unknown;  /* why its calls cannot be matched; NULL: they can */
} communicator;

typedef struct meeting_list {
  uint32_t process;
  arrival_list *list;
} meeting_list;

typedef struct meetings {
  summary_state *state;
  communicator *communicators;
  uint32_t count;
  meeting_list *lists; /* by communicator, then by rank */
} meetings;

/* Of a sorted state. 0: no memory. */
int meetings_init(meetings *all, summary_state *state);
void meetings_free(meetings *all);

/* A meeting of calls with this name. Returns NULL, or why the calls cannot belong together: then the reading ends. */
typedef const char *meeting_call(void *context, uint32_t name, const meeting_member *members, uint32_t count);
/* Calls for each meeting of a communicator that is not unknown; it becomes that when names differ. 0: no memory, or the spill
 * cannot be read. */
int meetings_read(meetings *all, communicator *of, meeting_call *call, void *context);

#endif
