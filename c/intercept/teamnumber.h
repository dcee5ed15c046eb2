/* teamnumber.h - which thread of its OpenMP team the calling thread is. SPDX-License-Identifier: MIT */
#ifndef DFT_TEAMNUMBER_H
#define DFT_TEAMNUMBER_H

#include <stdint.h>

/* 0: it leads its team, or is in none. `signals` is what the program has blocked. Takes a walk over the loaded objects, so
 * it is for a thread's first event. */
uint32_t dft__team_number(uint64_t signals);

#endif
