/* ending.h - how a trace ends.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_ENDING_H
#define DFT_ENDING_H

#include "batch.h"

/* The `end`. */
void dft__ending_event(dft_batch *batch, dft_event *event);

#endif
