/* leftover.h - spools of other processes: what a dead one left, and copies of what a living one has.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_LEFTOVER_H
#define DFT_LEFTOVER_H

#include "base/identity.h"
#include "spool.h"

/* Opens what a dead process left, with a lock. DFT_EBUSY when another process holds it, DFT_EFORMAT when it is not a spool
 * of this version; every size in its header is checked. */
dft_status dft__spool_open(dft__spool *spool, const char *path);

/* A copy in memory of a spool as it is now, of a living or a dead process; close it as one that was opened. */
dft_status dft__spool_copy(dft__spool *spool, const char *path);

/* Of a spool that was opened, so that its lock is held here. Nonzero: its process cannot write to it any more, because it has
 * ended, or called exec. Zero: the lock says nothing. */
int dft__spool_is_let_go(const dft__spool *spool);

/* Whose it is. */
void dft__spool_owner(const dft__spool *spool, dft__identity *owner);

#endif
