/* imbalance.h - ends of regions that have no begin, and regions that have no end. The `end` of the trace counts and names them.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_IMBALANCE_H
#define DFT_IMBALANCE_H

#include "thread.h"

/* An end found no open region. `site` names it; 0: nothing does. */
void dft__imbalance_note_end(const dft__own *own, uint32_t site);
/* The same where its name is unknown: it goes by the region that this thread ended last. */
void dft__imbalance_note_last(const dft__own *own);

/* The thread ends: notes the regions that it has left open. */
void dft__imbalance_note_open(const dft__own *own);

/* How many of these frames are open regions; puts their names into the list. */
uint32_t dft__imbalance_count(const dft__frame *frames, uint32_t depth, _Atomic uint32_t sites[DFT__SITES_NAMED]);

/* The regions of this thread that an end may come for. A forked child is told how many there were at the fork: it does not have
 * them, and their ends are no surprise. */
uint32_t dft__imbalance_open(void);
void dft__imbalance_forked(uint32_t open);

#endif
