/* commit.h - records what the outputs hold, atomically.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_COMMIT_H
#define DFT_COMMIT_H

#include "chunk.h"

/* The commit that counts; sequence number 0 and all zero when there is none. */
const dft__commit *dft__commit_current(const dft__spool *spool);

/* The next commit is written in three steps, by one thread at a time. dft__commit_begin returns its slot, a copy of the current
 * one with the next number. The caller fills in what is new, `count` included, then the list of that many chunks, which
 * dft__commit_list returns. With dft__commit_finish the commit counts. */
dft__commit *dft__commit_begin(dft__spool *spool);
dft__consumed *dft__commit_list(const dft__spool *spool, const dft__commit *commit);
void dft__commit_finish(dft__spool *spool, dft__commit *commit);

/* Repeats what a dead process may not have done after its last commit: marks what that commit consumed. */
void dft__commit_redo(dft__spool *spool);

/* Another trace begins in the same spool: there is no commit yet. */
void dft__commit_restart(dft__spool *spool);

/* Chunks that a commit can cover; `more` asks for the memory that more than a few need. */
uint32_t dft__commit_most(dft__spool *spool, int more);

#endif
