/* mpiclocks.h - `merge --align auto`: the clocks of nodes, from the MPI calls that were recorded.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_MPICLOCKS_H
#define DFTRACER_MPICLOCKS_H

#include <dftracer/reader.h>

#include "command/cli/progress.h"
#include "nodeclock.h"

/* Are the traces of more than one node? Looks at the beginning of each only. */
int mpi_clocks_has_several(dft_reader *reader);

/* Reads all events. If no MPI call is among them, the method becomes "clock". 0: no memory. */
int mpi_clocks_find(alignment *clocks, dft_reader *reader, progress *shown);

/* The times of a bounded node are right to within so many ns, as they are in the timeline, from the first message or
 * collective to the last. */
double mpi_clocks_bound(const alignment *clocks, uint32_t host);

/* Says on stderr what was moved, and how exact it is. Nothing for other methods. */
void mpi_clocks_report(const alignment *clocks, dft_reader *reader);

#endif
