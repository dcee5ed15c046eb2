/* collectives.h - how long ranks waited for each other in calls of communication.
 *
 * The n-th call of a name on one rank meets the n-th call of that name on every other rank. Each rank waits from its own start
 * until the last rank has started, but not longer than its call lasts. If the job was killed, or still runs, some ranks may
 * have made one call more than others: that one is not compared. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_COLLECTIVES_H
#define DFTRACER_COLLECTIVES_H

#include "command/summary/state/summarystate.h"

typedef struct collective {
  uint32_t name;               /* a text of the state */
  uint64_t processes;          /* that called it */
  uint64_t calls, least, most; /* all; of the process with the fewest, and of that with the most */
  uint64_t time_ns;            /* of all processes */
  const char *unknown;         /* why the following is not known; NULL: it is */
  uint64_t waited_ns;          /* of all processes */
  int64_t last_rank;           /* that most often came last, alone; NO_NUMBER: there was none */
  uint64_t last_calls;         /* how often */
  uint64_t hosts;              /* whose clocks were compared */
} collective;

typedef struct collective_list {
  collective *calls; /* in the order of names */
  uint32_t count;
} collective_list;

/* Of a sorted state. 0: no memory, or the spill cannot be read. */
int collective_list_init(collective_list *list, summary_state *state);
void collective_list_free(collective_list *list);

#endif
