/* mpiwait.h - the requests that a call waits for, tests or starts.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_MPIWAIT_H
#define DFT_MPIWAIT_H

#include "mpievent.h"

/* Handles as they are before the call, which replaces those of complete requests. */
#define DFT__MPI_FEW_WAITS 32
typedef struct dft__mpi_waits {
  uint64_t few[DFT__MPI_FEW_WAITS];
  uint64_t *all;
  uint32_t count;
  int is_lost; /* there was no memory */
} dft__mpi_waits;

void dft__mpi_waits_note(dft__mpi_waits *list, const dft__mpi_args *args);
void dft__mpi_waits_forget(dft__mpi_waits *list);

/* After a wait or test: adds what it completed to the event. */
void dft__mpi_waits_end(const dft__mpi_event *event, const dft__mpi_waits *list, int has_succeeded);
/* After MPI_Start or MPI_Startall. */
void dft__mpi_waits_start(const dft__mpi_event *event, const dft__mpi_waits *list);

#endif
