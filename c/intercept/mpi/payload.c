/* payload.c - how many bytes a call sends, from the arguments that are significant on this rank, and from no others.
 *
 * The library may abort the job if it is asked for the size of a type that is no type, and programs leave anything in
 * arguments that do not count.
 * SPDX-License-Identifier: MIT */
#include "payload.h"

/* One side of a call: counts and types, one of each or an array. */
typedef struct side {
  char count, type, counts, types;
} side;
static const side sending = {'n', 't', 'v', 's'}, receiving = {'N', 'T', 'V', 'S'};

static int64_t size_of(dft__word type) {
  int64_t size = -1;
  int small = -1;
  if (dft__mpi.type_size_x) return dft__mpi.type_size_x(type, &size) == 0 ? size : -1;
  return dft__mpi.type_size(type, &small) == 0 ? small : -1;
}

static int64_t product(int64_t count, dft__word type) {
  int64_t size, bytes;
  if (count <= 0) return count; /* then the type does not count either */
  size = size_of(type);
  return size < 0 || __builtin_mul_overflow(count, size, &bytes) ? -1 : bytes;
}

static int64_t times(int64_t bytes, int64_t ranks) {
  int64_t all;
  return bytes < 0 || __builtin_mul_overflow(bytes, ranks, &all) ? -1 : all;
}

static int64_t count_of(const dft__mpi_args *args, char role) {
  if (!dft__mpi_has(args, role)) return 1;
  return args->row->is_large ? (int64_t)dft__mpi_word(args, role) : dft__mpi_int(args, role);
}

static int64_t count_at(const dft__mpi_args *args, char role, int32_t at) {
  const void *counts = dft__mpi_pointer(args, role);
  return args->row->is_large ? ((const int64_t *)counts)[at] : ((const int32_t *)counts)[at];
}

/* The part of one rank: of all the same, or its own. */
static int64_t part(const dft__mpi_args *args, side of, int32_t rank) {
  int64_t count = dft__mpi_has(args, of.counts) ? count_at(args, of.counts, rank) : count_of(args, of.count);
  dft__word type = dft__mpi_has(args, of.types) ? dft__mpi_handle_in(dft__mpi_pointer(args, of.types), (uint64_t)rank)
                                                : dft__mpi_word(args, of.type);
  return product(count, type);
}

/* The parts of all these ranks together. */
static int64_t parts(const dft__mpi_args *args, side of, int32_t ranks) {
  int64_t all = 0, bytes;
  if (!dft__mpi_has(args, of.counts)) return ranks ? times(part(args, of, 0), ranks) : 0;
  if (dft__mpi_has(args, of.types)) {
    for (int32_t i = 0; i < ranks; i++) {
      if ((bytes = part(args, of, i)) < 0 || __builtin_add_overflow(all, bytes, &all)) return -1;
    }
    return all;
  }
  for (int32_t i = 0; i < ranks; i++) {
    if (__builtin_add_overflow(all, count_at(args, of.counts, i), &all)) return -1;
  }
  return product(all, dft__mpi_word(args, of.type));
}

/* A neighbourhood collective: nothing of a place where nobody is counts. */
static int64_t to_neighbors(const dft__mpi_args *args, dft__comm *comm) {
  int32_t places = dft__comm_neighbors(comm, dft__mpi_handle(dft__mpi_word(args, 'c')));
  int64_t all = 0, bytes;
  if (!comm->nobody) return parts(args, sending, places);
  for (int32_t i = 0; i < places; i++) {
    if (comm->nobody >> i & 1) continue;
    if ((bytes = part(args, sending, i)) < 0 || __builtin_add_overflow(all, bytes, &all)) return -1;
  }
  return all;
}

static int is_in_place(const dft__mpi_args *args, char role) {
  return dft__mpi_word(args, role) == dft__mpi.family.in_place;
}

/* What this rank is in a call with a root. In an inter-communicator one group has the root, and says so by MPI_ROOT. */
enum role_in_call { LEAF, THE_ROOT, IDLE };
static enum role_in_call role_of(const dft__mpi_args *args, const dft__comm *comm) {
  int32_t root = dft__mpi_int(args, 'r');
  if (!comm->is_inter) return root == comm->rank ? THE_ROOT : LEAF;
  if (root == dft__mpi.family.root) return THE_ROOT;
  return root == dft__mpi.family.proc_null ? IDLE : LEAF;
}

static int64_t gathered(const dft__mpi_args *args, const dft__comm *comm) {
  switch (role_of(args, comm)) {
    case IDLE: return 0;
    case LEAF: return part(args, sending, 0);
    default: break;
  }
  if (comm->is_inter) return parts(args, receiving, comm->peers);
  return is_in_place(args, 'b') ? part(args, receiving, comm->rank) : part(args, sending, 0);
}

static int64_t scattered(const dft__mpi_args *args, const dft__comm *comm) {
  enum role_in_call role = role_of(args, comm);
  if (role == IDLE) return 0;
  return role == THE_ROOT ? parts(args, sending, comm->peers) : part(args, receiving, 0);
}

int64_t dft__mpi_bytes(const dft__mpi_args *args, dft__comm *comm) {
  switch (args->row->rule) {
    case DFT__MPI_SIZE:
    case DFT__MPI_FILE:
    case DFT__MPI_FILE_ALL:
    case DFT__MPI_FILE_SHARED:
    case DFT__MPI_FILE_ORDERED: return part(args, sending, 0);
    case DFT__MPI_PEER:
      if (dft__mpi_int(args, 'p') == dft__mpi.family.proc_null) return 0;
      return part(args, sending, 0);
    case DFT__MPI_PARTS: /* here the count has 64 bits, and the number of partitions is an int */
      if (dft__mpi_int(args, 'p') == dft__mpi.family.proc_null) return 0;
      return times(product((int64_t)dft__mpi_word(args, 'n'), dft__mpi_word(args, 't')), dft__mpi_int(args, 'v'));
    default: break;
  }
  if (!comm) return -1;
  switch (args->row->rule) {
    case DFT__MPI_ROOTED: return role_of(args, comm) == IDLE ? 0 : part(args, sending, 0);
    case DFT__MPI_GATHER: return gathered(args, comm);
    case DFT__MPI_SCATTER: return scattered(args, comm);
    case DFT__MPI_ALLGATHER: return is_in_place(args, 'b') ? part(args, receiving, comm->rank) : part(args, sending, 0);
    case DFT__MPI_ALLTOALL: return parts(args, is_in_place(args, 'b') ? receiving : sending, comm->peers);
    case DFT__MPI_EACH: return parts(args, sending, comm->size);
    case DFT__MPI_NEIGHBOR: return to_neighbors(args, comm);
    default: return -1;
  }
}
