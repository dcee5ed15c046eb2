/* meetingwaits.h - who waits for whom in a meeting, and how long. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_MEETINGWAITS_H
#define DFTRACER_MEETINGWAITS_H

#include "delays.h"
#include "hostclocks.h"
#include "meetings.h"
#include "waiting.h"

typedef struct meeting_waits {
  const host_clocks *clocks;
  waiting *waits;
  delays *late;
} meeting_waits;

/* What came of one meeting. */
typedef struct meeting_outcome {
  uint32_t last;      /* the process that came last, alone, and that others can wait for; 0: there is none */
  uint64_t waited_ns; /* of all members */
} meeting_outcome;

/* Counts the meeting of a call with this number. Clears *is_good when there is no memory, or no room for the spill. */
meeting_outcome meeting_waits_add(meeting_waits *to, uint32_t call, uint32_t kind, const meeting_member *members,
                                  uint32_t count, int *is_good);

#endif
