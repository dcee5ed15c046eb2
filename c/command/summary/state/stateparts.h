/* stateparts.h - states of traces that may be of different runs: each part holds traces that surely belong to one run.
 *
 * Traces with the same run id are one part. Traces without an id are one part if their lifetimes overlap. Traces without
 * events are a part that belongs to every run. All of this stays true whatever traces are added, so parts can be merged in any
 * order. Which parts without an id are one run is decided when all are known (runs.h). SPDX-License-Identifier: MIT */
#ifndef DFTRACER_STATEPARTS_H
#define DFTRACER_STATEPARTS_H

#include "summarystate.h"

typedef struct state_parts {
  summary_state *states;
  uint32_t count, capacity;
  int is_good; /* 0: no memory, or no room for the spill */
} state_parts;

void state_parts_init(state_parts *parts);
void state_parts_free(state_parts *parts);
/* A new state; NULL: no memory. Others may move. */
summary_state *state_parts_add(state_parts *parts);
/* Adds all of `from`, which is empty then. Returns why it cannot; then both can only be freed. The text is valid until the next
 * call. */
const char *state_parts_merge(state_parts *into, state_parts *from);
/* Nothing will be added: names that one part knows become known to all, and everything is put in order. */
void state_parts_settle(state_parts *parts);

/* Whether it has an event at all. */
static inline int state_has_life(const summary_state *state) {
  return state->life_first <= state->life_last;
}

#endif
