/* runs.h - which runs the traces are of, and which one is shown.
 *
 * The traces of one run id are one run. Traces without an id, of older tracers or of others, are put in the order of time, and
 * joined to the run before unless
 *   - a rank of theirs has been there before: the job was started again; or
 *   - nothing ran for a second or more.
 * If they overlap exactly one run with an id, they belong to it. Runs are numbered from the oldest on.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_RUNS_H
#define DFTRACER_RUNS_H

#include "command/summary/state/stateparts.h"

#define RUN_ALL 0u
#define RUN_NEWEST UINT32_MAX

typedef struct run_facts {
  char *id, *command; /* empty: not known. The command is that of the process that started first */
  int64_t first, last;
  int64_t origin;     /* when the first trace began */
  uint64_t first_pid; /* of its process; the smallest, if several started at once */
  uint64_t events;
  uint32_t processes, threads; /* with an event in the time that was asked for */
} run_facts;

typedef struct run_list {
  run_facts *runs; /* run N is runs[N - 1] */
  uint32_t count;
  uint32_t *run_of_part; /* by number of a state: its run; 0: it belongs to every run */
  uint32_t shown;        /* RUN_ALL, or a run */
} run_list;

int run_list_init(run_list *list, const state_parts *parts); /* 0: no memory */
void run_list_free(run_list *list);
/* Merges the parts of a run into one state, and frees all others. Returns why it cannot; NULL: it is done. state->is_good says
 * whether memory sufficed. */
const char *run_list_show(run_list *list, state_parts *parts, uint32_t run, summary_state *state);

#endif
