/* mpirow.h - the rows of mpicalls.inc, in the form in which calls use them.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_MPIROW_H
#define DFT_MPIROW_H

#include <dftracer/dft.h>
#include <stdint.h>

/* Which arguments tell the bytes, and where they are significant. */
enum dft__mpi_rule {
  DFT__MPI_NONE,
  DFT__MPI_SIZE,         /* count x size, on every rank */
  DFT__MPI_PEER,         /* the same, unless the peer is MPI_PROC_NULL; a count that is not there is 1 */
  DFT__MPI_PARTS,        /* the same for each partition */
  DFT__MPI_ROOTED,       /* the same, unless the root is MPI_PROC_NULL */
  DFT__MPI_GATHER,       /* what this rank sends; what the root of an inter-communicator receives */
  DFT__MPI_SCATTER,      /* what the root sends to all; what another rank receives */
  DFT__MPI_ALLGATHER,    /* what this rank sends, once */
  DFT__MPI_ALLTOALL,     /* what this rank sends, to all */
  DFT__MPI_EACH,         /* the counts of all ranks */
  DFT__MPI_NEIGHBOR,     /* what this rank sends, to all its neighbours */
  DFT__MPI_FILE,         /* count x size, at an offset */
  DFT__MPI_FILE_ALL,     /* the same, collective */
  DFT__MPI_FILE_SHARED,  /* at an offset that only the library knows */
  DFT__MPI_FILE_ORDERED, /* the same, collective */
  DFT__MPI_FILE_END,     /* the second half of a collective */
  DFT__MPI_FILE_WHOLE,   /* collective, and moves nothing */
  DFT__MPI_FILE_NAMED,   /* not collective, and moves nothing */
};

/* What a call does to the things that handles stand for. */
enum dft__mpi_flow {
  DFT__MPI_NOW,
  DFT__MPI_INIT,
  DFT__MPI_BEGINS,   /* makes a request that is under way */
  DFT__MPI_PREPARES, /* makes one for MPI_Start */
  DFT__MPI_STARTS,
  DFT__MPI_WAITS,
  DFT__MPI_FREES,
  DFT__MPI_COMM,       /* makes a communicator; every rank of the old one calls it */
  DFT__MPI_COMM_LATER, /* the same, with the ranks of the old one, and usable when its request is complete */
  DFT__MPI_COMM_PART,  /* makes one, but not every rank of the old one calls it, or there are two old ones */
  DFT__MPI_WINDOW,
  DFT__MPI_SESSION,
  DFT__MPI_OPENS,
  DFT__MPI_VIEW,
  DFT__MPI_GIVES_UP, /* these give a handle back */
  DFT__MPI_COMM_FREE = DFT__MPI_GIVES_UP,
  DFT__MPI_WINDOW_FREE,
  DFT__MPI_SESSION_END,
  DFT__MPI_CLOSES,
};

#define DFT__MPI_ARGS_MOST 14

typedef struct dft__mpi_row {
  dft_site site; /* its name is the C name, MPI_Send */
  uint8_t rule, flow;
  uint8_t arity;
  uint8_t is_file;           /* MPI-IO */
  uint8_t is_large;          /* counts have 64 bits */
  uint8_t at['z' - 'A' + 1]; /* where the argument of each role is, counted from 1; 0: there is none */
} dft__mpi_row;

/* The row of a symbol, MPI_Send or PMPI_Send, ready for use; NULL: there is none. Not for two threads at once. */
dft__mpi_row *dft__mpi_row_find(const char *symbol);

#endif
