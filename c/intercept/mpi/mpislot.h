/* mpislot.h - slots: what stands in an import slot in the place of an MPI function, one for each original.
 *
 * The originals of one name may differ from object to object: a profiling tool between the program and the library has
 * an MPI_Send of its own.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_MPISLOT_H
#define DFT_MPISLOT_H

#include "mpirow.h"

typedef struct dft__mpi_slot {
  uintptr_t original;
  dft__mpi_row *row;
  _Atomic uint32_t standing; /* dft__mpi_standing */
} dft__mpi_slot;

/* The code of all slots, one after the other. */
extern const char dft__mpi_entries[] __attribute__((visibility("hidden")));

/* The address to put into the import slot; 0 when there are too many. Not for two threads at once. */
uintptr_t dft__mpi_slot_for(dft__mpi_row *row, uintptr_t original);
/* The slot at such an address, or by its number; NULL: the address is no slot's. */
const dft__mpi_slot *dft__mpi_slot_at(uintptr_t address);
dft__mpi_slot *dft__mpi_slot_numbered(uint32_t number);

#endif
