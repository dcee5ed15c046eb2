/* commrows.h - counts an event of communication: what it moved, whom it met, what it waited for. Nothing of it depends on the order
 * of events. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_COMMROWS_H
#define DFTRACER_COMMROWS_H

#include "analysis.h"

/* An event of this class. Without memory, it clears counts->is_good. */
void comm_rows_add(const analysis *shared, tally *counts, const dft_rows *rows, uint32_t row, const moment *event);

#endif
