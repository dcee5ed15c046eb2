/* mpifacts.h - what the series of MPI calls say about clocks: nobody leaves a collective before the last one has come, and
 * nothing is received before it was sent.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_MPIFACTS_H
#define DFTRACER_MPIFACTS_H

#include "command/trace/clockbounds.h"
#include "mpiseries.h"

/* Adds all that is certain: nothing of a communicator or a pair of ranks whose calls may not be complete. 0: no memory. */
int mpi_facts_add(clock_bounds *clocks, const mpi_series *all);

/* The host whose clock is right: that of rank 0, else of the first process with MPI calls. 0: there is none. */
uint32_t mpi_facts_first_host(const mpi_series *all);

#endif
