/* communicator.h - what is known of each communicator, without a message of our own.
 *
 * A communicator's id is the same on all its ranks: it is made of the old communicator's id, of how many were made from
 * that one before, and of the ranks in it. If not all ranks of the old one are there: of the ranks in it, and of how many
 * such there were before.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_COMMUNICATOR_H
#define DFT_COMMUNICATOR_H

#include "mpilibrary.h"

typedef struct dft__comm {
  uint32_t id;   /* 0: MPI_COMM_WORLD */
  uint32_t made; /* communicators that all its ranks made from it */
  int32_t size, rank;
  int32_t peers; /* how many ranks a peer's rank can be: the size, or that of the remote group */
  int32_t is_inter;
  int32_t is_placed; /* it is known which world ranks the peers are */
  int32_t neighbors; /* places for those that this rank sends to; -1: not asked for yet */
  uint64_t nobody;   /* a bit for each place where a grid ends, and MPI_PROC_NULL stands */
  int32_t *world;    /* the peers' ranks in MPI_COMM_WORLD, -1 where they are not in it; NULL: the same */
} dft__comm;

/* This rank in MPI_COMM_WORLD, or among the ranks that would be in it. Returns 0 before MPI is initialised. */
int dft__world_place(int *rank, int *size);
/* A program without MPI_COMM_WORLD has sessions. */
void dft__session_begun(dft__word begun);
void dft__session_ends(dft__word ended);

/* NULL: not known yet. Calls nothing. */
dft__comm *dft__comm_find(dft__word handle);
/* The same, after asking the library. The handle must be valid. NULL: there is no room. */
dft__comm *dft__comm_get(dft__word handle);

/* A call on `old` made `handle`, if that is not MPI_COMM_NULL. */
enum dft__comm_origin { DFT__COMM_OF_ALL, DFT__COMM_LATER, DFT__COMM_OF_PART };
void dft__comm_made(dft__comm *old, dft__word handle, enum dft__comm_origin origin, int32_t tag);
void dft__comm_free(dft__word handle);

/* The rank in MPI_COMM_WORLD; -1: it is not in it. */
static inline int32_t dft__comm_world_rank(const dft__comm *comm, int32_t peer) {
  if (peer < 0 || peer >= comm->peers || !comm->is_placed) return -1;
  return comm->world ? comm->world[peer] : peer;
}
/* How many places for neighbours a neighbourhood collective has for sending; comm->nobody is known then. */
int32_t dft__comm_neighbors(dft__comm *comm, dft__word handle);

/* Of a window: the communicator that it was made from. */
void dft__window_made(dft__word window, const dft__comm *comm);
dft__comm *dft__window_comm(dft__word window);
void dft__window_free(dft__word window);

/* For a new trace: nobody has seen what was freed since the last one, and which handles were used again. */
void dft__comm_forget_all(void);

#endif
