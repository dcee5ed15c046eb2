/* mpirecord.h - one MPI call, from its slot to its event.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_MPIRECORD_H
#define DFT_MPIRECORD_H

#include "mpilibrary.h"

/* What the entry of a slot calls: the slot's number, the argument registers, and the arguments on the caller's stack. */
dft__word dft__mpi_call(uint32_t number, const dft__word *registers, const dft__word *stack);

#endif
