/* visit.c - the spools that the calling thread may be inside of.
 * SPDX-License-Identifier: MIT */
#include "visit.h"

#include "base/signals.h"

#define INTERRUPTED_MAX 4

__thread dft__spool *dft__visited_spool;
static __thread uint16_t interrupted[INTERRUPTED_MAX]; /* numbers of spools in which a call waits for a handler */
static __thread uint64_t always_blocked = UINT64_MAX;  /* signals that were blocked each time we looked */

/* A handler has more signals blocked than the thread has at other times, or a stack of its own. */
static int is_in_handler(uint64_t blocked) {
  always_blocked &= blocked;
  return blocked != always_blocked || dft__signals_on_own_stack();
}

static void exit_interrupted(void) {
  for (int i = 0; i < INTERRUPTED_MAX && interrupted[i]; i++) {
    dft__spool_exit(dft__spool_numbered(interrupted[i]));
    interrupted[i] = 0;
  }
}

static void exit_visited(void) {
  if (dft__visited_spool) dft__spool_exit(dft__visited_spool);
  dft__visited_spool = NULL;
}

/* When handlers interrupt each other too often, the spool is never exited, and so never used again. */
static void keep_interrupted(void) {
  int i = 0;
  while (i < INTERRUPTED_MAX && interrupted[i]) i++;
  if (dft__visited_spool && i < INTERRUPTED_MAX) interrupted[i] = dft__visited_spool->number;
}

void dft__visit_move(dft__spool *spool, uint64_t blocked) {
  if (is_in_handler(blocked)) keep_interrupted();
  else dft__visit_end();
  dft__visited_spool = spool;
}

void dft__visit_tidy(uint64_t blocked) {
  if (interrupted[0] && !is_in_handler(blocked)) exit_interrupted();
}

void dft__visit_end(void) {
  exit_interrupted();
  exit_visited();
}
