/* facts.h - facts of the process.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_FACTS_H
#define DFT_FACTS_H

#include "spool/spool.h"

/* Working directory, command, executable, name of the main thread, cores: what the opening lines say. A forked
 * child copies from the spool of its parent what is the same; else that is NULL. */
void dft__facts_fill(dft__spool *spool, const dft__spool *parent);

#endif
