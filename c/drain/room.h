/* room.h - what recording threads do when the spool is full: they help, wait in line for the next free chunk, or give up.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_ROOM_H
#define DFT_ROOM_H

#include "spool/chunk.h"

/* A chunk for a record of so many cells, after helping or waiting; NULL when that took too long. Called with signals blocked;
 * `signals` is what the program has blocked. */
dft__chunk *dft__room_make(dft__spool *spool, uint32_t cells, uint64_t signals);

#endif
