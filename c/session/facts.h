/* facts.h - facts of the process.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_FACTS_H
#define DFT_FACTS_H

#include "spool/spool.h"

/* Fills in what the opening lines say: rank, run, working directory, command, executable, name of the main thread, cores. A forked child
 * copies what is the same from the spool of its parent; for others `parent` is NULL. */
void dft__facts_fill(dft__spool *spool, const dft__spool *parent);

#endif
