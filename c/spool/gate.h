/* gate.h - the session as recording threads see it: whether one is open, its number, its spool.
 *
 * c/session writes all of this; everybody may read it.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_GATE_H
#define DFT_GATE_H

#include "base/identity.h"
#include "spool.h"

/* The gate is one word that says whether recording calls may go on: the number of the session, or 0 when none is open. It lies
 * in a page of its own that fork wipes, so that a forked child notices at its first call, however it was made. */
extern _Atomic(_Atomic uint64_t *) dft__gate __attribute__((visibility("hidden")));
static inline _Atomic uint64_t *dft__gate_page(void) {
  return DFT__ACQUIRE(dft__gate);
}
#define DFT__GATE_PAUSED (UINT64_C(1) << 63)

/* The page has a second word, which fork wipes too: while it is set, the session belongs to this process. Comparing process ids
 * is not enough, because the first processes of two namespaces have the same one. */
static inline _Atomic uint64_t *dft__gate_owner_mark(void) {
  return dft__gate_page() + 1;
}

/* Maps the page, once a process. Where the kernel cannot wipe it, a fork handler of c/session does. Zero when there is no
 * memory. */
int dft__gate_make(void);

typedef struct dft__session_state {
  _Atomic(dft__spool *) spool; /* of the session that was opened last; never NULL */
  dft__identity identity;
  uint64_t number;          /* of the session; what the gate shows */
  _Atomic uint32_t is_open; /* in the process `identity` names */
  uint32_t is_child;        /* of a forked traced process */
} dft__session_state;

extern dft__session_state dft__session;

#endif
