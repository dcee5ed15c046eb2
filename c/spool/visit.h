/* visit.h - the spools that the calling thread may be inside of. Their address ranges are not reused meanwhile.
 *
 * A thread stays inside the spool of a session from its first call on, until it uses another one or ends, so that the calls in
 * between cost nothing. A signal handler may come in the middle of a call and record into a newer session. Then the
 * interrupted spool is kept as well, until the handler has returned.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_VISIT_H
#define DFT_VISIT_H

#include "gate.h"

/* The spool that the thread uses; NULL: none yet. Its session may have ended. */
extern __thread dft__spool *dft__visited_spool __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The spool behind the calling thread's state, even when another session has been opened since. */
static inline dft__spool *dft__thread_spool(void) {
  return dft__visited_spool ? dft__visited_spool : dft__session.spool;
}

/* The thread has entered `spool` (dft__spool_enter), and exits the one before. `blocked`: the signals that the program has
 * blocked, which tell whether a signal handler is running. */
void dft__visit_move(dft__spool *spool, uint64_t blocked);

/* Exits spools in which signal handlers interrupted a call, if they have all returned. */
void dft__visit_tidy(uint64_t blocked);

/* The thread ends: exits all of them. */
void dft__visit_end(void);

#endif
