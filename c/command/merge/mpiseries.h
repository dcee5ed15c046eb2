/* mpiseries.h - the MPI calls of all processes that say something about the order of events on different nodes, as series.
 *
 *   collectives  that nobody leaves before all have come, of a process on a communicator
 *   sends        of a process to a rank, on a communicator, with a tag: MPI keeps their order
 *   receives     of a process from a rank, the same
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_MPISERIES_H
#define DFTRACER_MPISERIES_H

#include <dftracer/reader.h>

#include "callseries.h"
#include "command/trace/numbering.h"

enum series_kind { SERIES_COLLECTIVE, SERIES_SEND, SERIES_RECEIVE };

/* What a series is of. */
typedef struct series_key {
  uint32_t source, comm;
  uint32_t kind;
  uint32_t peer; /* of collectives: the size of the communicator */
  uint32_t tag;
} series_key;

/* What is known of a process. */
typedef struct series_source {
  uint32_t host, run;
  int32_t rank; /* -1: unknown */
  int has_init; /* its calls are recorded from the first one on */
  int has_gaps; /* events were dropped */
  int has_cancelled;
  int has_calls;
} series_source;

/* Where a non-blocking receive waits for its end. */
typedef struct series_place {
  uint32_t series, kept;
} series_place;

typedef struct mpi_series {
  dft_reader *reader;
  series_source *sources;
  uint32_t source_count;
  numbering numbers; /* of keys; see mpi_series_key */
  call_series *list; /* by number */
  uint32_t room;
  numbering pending_numbers; /* of receives: source and id */
  series_place *pending;     /* by number */
  uint32_t pending_room;
  uint8_t *roles; /* by number of a name */
  uint32_t role_count;
  uint32_t cat, own_cat, rank_line;
  uint32_t keys[32]; /* by key_name of mpiseries.c */
} mpi_series;

/* 0: no memory. */
int mpi_series_init(mpi_series *all, dft_reader *reader);
/* Rows of a source, in its order. 0: no memory. */
int mpi_series_add(mpi_series *all, const dft_rows *rows);
void mpi_series_free(mpi_series *all);

/* The key of a series, and the number of a series by its key; 0: there is none. */
series_key mpi_series_key(const mpi_series *all, uint32_t number);
uint32_t mpi_series_find(const mpi_series *all, series_key key);

#endif
