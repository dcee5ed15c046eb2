/* mpievent.h - the event of one MPI call that is under way, and its arguments.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_MPIEVENT_H
#define DFT_MPIEVENT_H

#include "payload.h"

/* The arguments of events; FIRST_START is followed by the other starts. */
enum dft__mpi_key {
  DFT__MPI_KEY_BYTES,
  DFT__MPI_KEY_PEER,
  DFT__MPI_KEY_SOURCE,
  DFT__MPI_KEY_ROOT,
  DFT__MPI_KEY_TAG,
  DFT__MPI_KEY_SOURCE_TAG,
  DFT__MPI_KEY_COMM,
  DFT__MPI_KEY_COMM_SIZE,
  DFT__MPI_KEY_REMOTE_SIZE,
  DFT__MPI_KEY_REQUESTS,
  DFT__MPI_KEY_COMPLETED,
  DFT__MPI_KEY_UNMATCHED,
  DFT__MPI_KEY_RANK,
  DFT__MPI_KEY_SIZE,
  DFT__MPI_KEY_NODE,
  DFT__MPI_KEY_FHASH,
  DFT__MPI_KEY_OFFSET,
  DFT__MPI_KEY_COLLECTIVE,
  DFT__MPI_KEY_ERROR,
  DFT__MPI_KEY_FIRST_START,
};
#define DFT__MPI_STARTS_MOST 8
extern dft_key dft__mpi_keys[];

typedef struct dft__mpi_event {
  dft__mpi_args args;
  const dft__word *stack; /* the arguments there */
  dft__word next_to_it;   /* the word below them: on x86-64, where the call returns to */
  dft_region region;      /* 0: nothing is recorded */
  dft__comm *comm;        /* NULL: it has none, or none that is known */
  dft__word result;       /* of the call; set by the time it ends, with the two below */
  uint64_t end;
  int error; /* the program's errno */
} dft__mpi_event;

/* Adds an argument, unless there is no event: region 0 would be the program's own innermost one. */
static inline void dft__mpi_put_arg(const dft__mpi_event *event, const dft_arg *arg) {
  if (event->region) dft_update_arg(event->region, arg);
}
static inline void dft__mpi_put(const dft__mpi_event *event, unsigned key, int64_t value) {
  const dft_arg arg = {.key = &dft__mpi_keys[key], .type = DFT_INT, .value.i = value};
  dft__mpi_put_arg(event, &arg);
}

/* Before the call: whatever is known without asking the library. */
void dft__mpi_event_begin(dft__mpi_event *event);
/* After it has succeeded: what was not known then, and what wildcards stood for. */
void dft__mpi_event_place(dft__mpi_event *event);

/* The handle that the call stored, or that it is about to free; 0: nowhere. */
static inline dft__word dft__mpi_made(const dft__mpi_args *args, char role) {
  const void *at = dft__mpi_pointer(args, role);
  return at ? dft__mpi_handle_in(at, 0) : 0;
}

#endif
