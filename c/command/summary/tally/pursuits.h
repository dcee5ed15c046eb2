/* pursuits.h - what a thread that communicates was in, moment by moment: the innermost event, or none. So it can be told what a
 * rank did while others waited for it.
 *
 * A line holds the events of one thread, in the order of their ends, until all are known. Read backwards, an event comes before
 * all that it encloses, and every moment belongs to one event, as coverage.h says. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_PURSUITS_H
#define DFTRACER_PURSUITS_H

#include "arrivals.h"
#include "command/trace/spanstack.h"

/* Of one thread. Zero: empty. */
typedef struct pursuit_line {
  span_stack spans;
  uint32_t quiet; /* events before the first one that communicates, at most a few */
  int is_cut;     /* there were more: they are forgotten */
  int has_comm;   /* it communicates */
  int64_t since;  /* if it is cut: what was before is not known */
} pursuit_line;

#define PURSUIT_CLASS_BITS 20 /* of the number of a class */
/* Adds what ends last so far. 0: no memory, or no room for the spill. */
int pursuit_line_add(pursuit_line *line, int64_t start, int64_t end, uint32_t class_number, int is_comm);
void pursuit_line_free(pursuit_line *line); /* it can be used again */

/* A time in which a process was in one event; or, between two calls of communication, in it again and again. */
typedef struct pursuit {
  int64_t start, end;
  uint64_t ns;   /* of that time; the rest is in other pursuits */
  uint32_t what; /* number in the names, from 1 on; 0: it was in no event */
} pursuit;

typedef struct pursuit_name {
  uint32_t name, cat; /* while traces are read: the number of the class, and 0; in a state: texts */
} pursuit_name;

#define PURSUIT_NAMES_MOST 1024u

/* Of one process. Zero: nothing is known. */
typedef struct pursuits {
  record_pile times; /* pursuits, the later ends first */
  pursuit_name *names;
  uint32_t count;
} pursuits;

/* These return 0 when there is no memory, no room for the spill, or when it cannot be read. */

int pursuits_take(pursuits *all, pursuit_line *line); /* which is empty then */
int pursuits_add(pursuits *all, const pursuit *one);
int pursuits_add_name(pursuits *all, pursuit_name name);      /* its number is the new count */
void pursuits_rename(pursuits *all, const uint32_t *numbers); /* texts get other numbers */
void pursuits_free(pursuits *all);

#endif
