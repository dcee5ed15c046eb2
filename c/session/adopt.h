/* adopt.h - the spool that this process left when it called exec: its next image continues it.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_ADOPT_H
#define DFT_ADOPT_H

#include "base/identity.h"
#include "spool/spool.h"

/* The claim's spool becomes this process's own, with `is_adopted` set. Zero when no earlier image of this process made it, when
 * it was recorded with other settings, or holds anything unusual. Then nothing has changed, and a recovery publishes it. */
int dft__adopt(dft__spool *spool, const char *claim, const dft__identity *own);

/* The session is open: ends the threads of the image before. */
void dft__adopt_threads(const dft__spool *spool, uint64_t session);

#endif
