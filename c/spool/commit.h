/* commit.h - what the output holds, said in one stroke.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_COMMIT_H
#define DFT_COMMIT_H

#include "drain/batch.h"

/* The commit that counts; sequence number 0 and all zero when there is none. */
const dft__commit *dft__commit_current(const dft__spool *spool);

/* The next one: this batch is in the outputs, which have these lengths. Calls must not overlap. */
void dft__commit_write(dft__spool *spool, const dft_batch *batch, const uint64_t bytes[DFT__SINKS_MAX]);

/* Repeats what a dead process may not have done after its last commit: marks what that commit consumed. */
void dft__commit_redo(dft__spool *spool);

/* Chunks that a commit can cover; `more` asks for the memory that more than a few need. */
uint32_t dft__commit_most(dft__spool *spool, int more);

#endif
