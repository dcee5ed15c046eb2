/* lane.h - lanes: extra tracks beside a thread's own, for events that overlap others of the thread. A viewer shows one
 * track per thread id and expects the events on it to nest.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_LANE_H
#define DFT_LANE_H

#include "thread.h"

/* The number of a lane on which nothing overlaps these times; the event there has the thread id DFT__LANE_TID + number. */
uint32_t dft__lane_take(const dft__own *own, uint64_t start, uint64_t end);

#endif
