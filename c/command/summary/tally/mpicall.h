/* mpicall.h - what a function of MPI does: who waits for whom in it. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_MPICALL_H
#define DFTRACER_MPICALL_H

#include <dftracer/reader.h>

enum mpi_kind {
  MPI_NONE, /* not a function of MPI */
  MPI_OTHER,
  MPI_SEND,
  MPI_RECEIVE,
  MPI_EXCHANGE, /* sends and receives */
  MPI_PUT,
  MPI_GET,
  MPI_COMPLETE,  /* waits for requests, or tests them */
  MPI_START,     /* starts requests that were prepared: nothing tells the peers */
  MPI_ALL,       /* a collective: everyone may have to wait for everyone */
  MPI_FROM_ROOT, /* everyone waits for the root */
  MPI_TO_ROOT,   /* the root waits for everyone */
  MPI_PARTLY,    /* a collective in which ranks wait for some others: neighbours, those before them */
  MPI_FILE,      /* of MPI-IO */
  MPI_KINDS
};

/* Whether nobody leaves a collective before the last one has come. */
enum mpi_fence { FENCE_NEVER, FENCE_WITH_DATA, FENCE_ALWAYS };

typedef struct mpi_call {
  uint8_t kind;        /* mpi_kind */
  uint8_t is_begun;    /* it only begins: a request is completed later */
  uint8_t is_prepared; /* not even that: MPI_Start begins it */
  uint8_t is_probe;    /* of a message that another call receives */
  uint8_t fence;       /* mpi_fence */
} mpi_call;

static inline int mpi_is_point_to_point(uint8_t kind) {
  return kind == MPI_SEND || kind == MPI_RECEIVE || kind == MPI_EXCHANGE || kind == MPI_COMPLETE;
}
static inline int mpi_is_collective(uint8_t kind) {
  return kind >= MPI_ALL && kind <= MPI_PARTLY;
}

/* By the name of a function, MPI_Allreduce, and its category. */
mpi_call mpi_call_classify(dft_text name, dft_text cat);

#endif
