/* synthetic.h - synthetic traces: the text of any member of any process, as a pure function of the plan.
 *
 * A process has one main thread that trains (steps of fetch, forward, backward, reduce) and workers that load items (open,
 * read, close, decode). Each thread works in turns of TURN_US. A member holds whole turns, so any thread can make any member
 * on its own, and the result is the same.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SYNTHETIC_H
#define DFTRACER_SYNTHETIC_H

#include <stddef.h>
#include <stdint.h>

#define SYNTHETIC_MEMBER_EVENTS 4000u /* about 750 KiB of text; a member is 256 KiB to 1 MiB */
#define SYNTHETIC_MEMBER_BYTES (1u << 20)
#define SYNTHETIC_FILES 64u
#define SYNTHETIC_THREADS_MOST 256u

typedef struct synthetic {
  uint64_t seed;
  uint64_t events; /* of all processes together */
  uint32_t processes;
  uint32_t threads; /* of each process */
  uint32_t nodes;
} synthetic;

/* Process ids are SYNTHETIC_PID + rank. */
#define SYNTHETIC_PID 100000u

uint64_t synthetic_members_of(const synthetic *plan, uint32_t rank);
uint32_t synthetic_node_of(const synthetic *plan, uint32_t rank);

/* Writes member `member` of a process and returns its length. The first has the opening lines, the last the `end`. */
size_t synthetic_member(const synthetic *plan, uint32_t rank, uint64_t member, char text[SYNTHETIC_MEMBER_BYTES]);

#endif
