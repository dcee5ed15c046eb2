/* tally.h - a program counts its own MPI calls and their bytes, as the standard says and as nothing of dftracer knows.
 * SPDX-License-Identifier: MIT */
#ifndef TALLY_H
#define TALLY_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Open MPI 5 says 3.1, and has these. */
#define HAS_MPI_4 (MPI_VERSION >= 4)
#if HAS_MPI_4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#else
#define HAS_PERSISTENT 0
#endif

extern int me, ranks, left_rank, right_rank;
extern char out[1 << 16], in[1 << 16];

void tally(const char *name, long long bytes);
#define DO(name, bytes, ...) (tally("MPI_" #name, bytes), check(MPI_##name(__VA_ARGS__), #name, __LINE__))
void check(int code, const char *name, int line);

/* The request of a call that has begun. */
#define FINISH(bytes) DO(Wait, bytes, &request, MPI_STATUS_IGNORE)
#define CYCLE(bytes) (DO(Start, bytes, &request), FINISH(bytes), DO(Request_free, 0, &request))

void every_message(void);
void every_request(void);
void every_collective(void);
void every_window(void);
void every_communicator(void);
void every_file(const char *folder);

#endif
