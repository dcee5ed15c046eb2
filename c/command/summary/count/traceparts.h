/* traceparts.h - traces that surely belong to one run, while they are read: a part.
 *
 * Traces with the same run id are one part. Traces without an id are one part if their lifetimes overlap. Both stay true
 * whatever other traces there are, so what a part's traces counted is added up at once. Traces without events are a part of
 * their own, which belongs to every run. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TRACEPARTS_H
#define DFTRACER_TRACEPARTS_H

#include <pthread.h>

#include "command/summary/tally/tally.h"

/* When a trace was recorded, and by which run. */
typedef struct trace_life {
  int64_t first, last; /* of all its events, also of those that were not asked for; first > last: none */
  int64_t start;       /* the event `start`; INT64_MAX: none */
  char *run;           /* its id; NULL: none */
} trace_life;

typedef struct part_source {
  trace_life life;
  tally *totals;    /* what workers have given; NULL: nothing, or the part has it */
  uint32_t holders; /* workers that count it */
  int is_ended, is_placed;
  uint32_t part;
} part_source;

typedef struct trace_part {
  const char *run;     /* of one of its sources */
  int64_t first, last; /* as in trace_life */
  tally counts;
  uint32_t into; /* the part that took this one over; its own number: none */
} trace_part;

typedef struct trace_parts {
  pthread_mutex_t lock;
  part_source *sources;
  uint32_t source_count;
  trace_part *parts;
  uint32_t count, capacity;
  int is_good; /* 0: no memory */
} trace_parts;

void trace_life_init(trace_life *life);
void trace_life_add(trace_life *life, int64_t start, int64_t end);
/* If a file has several ids, the first one in the order of bytes counts: a file is never split. 0: no memory. */
int trace_life_set_run(trace_life *life, const char *text, size_t len);

int trace_parts_init(trace_parts *parts, uint32_t sources); /* 0: no memory */
void trace_parts_free(trace_parts *parts);

/* From any thread. A worker holds a source while it counts it, and then gives what it counted, which is empty again. */
void trace_parts_hold(trace_parts *parts, uint32_t source);
void trace_parts_give(trace_parts *parts, uint32_t number, tally *counts, trace_life *life);
/* All events of the source were accounted for. */
void trace_parts_end(trace_parts *parts, uint32_t source);
/* No worker is left: every source becomes a member of a part. */
void trace_parts_settle(trace_parts *parts);
/* The part of a source; trace_parts_settle was called. */
uint32_t trace_parts_of(const trace_parts *parts, uint32_t source);

#endif
