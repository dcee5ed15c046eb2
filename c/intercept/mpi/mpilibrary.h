/* mpilibrary.h - the MPI library of this process: which family it is of, its constants, and its functions that we call.
 *
 * Nothing of it is known when dftracer is built. A handle is a word here; families whose handles are of type int leave
 * its upper half undefined.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_MPILIBRARY_H
#define DFT_MPILIBRARY_H

#include <stdint.h>

typedef uintptr_t dft__word;

typedef struct dft__mpi_family {
  uint8_t handle_bytes;
  uint8_t status_source; /* where MPI_SOURCE is in a status; MPI_TAG follows */
  int32_t any_source, any_tag, proc_null, root;
  int32_t cart, graph, dist_graph;
  int32_t mode_sequential; /* a file that has no offsets */
  dft__word in_place, status_ignore;
  dft__word world, self, comm_null, request_null;
} dft__mpi_family;

/* name in the library, type of result and parameters. Handles are words. */
#define DFT__MPI_FUNCTIONS(X)                                                                             \
  X(initialized, "PMPI_Initialized", (int *))                                                             \
  X(finalized, "PMPI_Finalized", (int *))                                                                 \
  X(abi_get_version, "PMPI_Abi_get_version", (int *, int *))                                              \
  X(get_library_version, "PMPI_Get_library_version", (char *, int *))                                     \
  X(get_processor_name, "PMPI_Get_processor_name", (char *, int *))                                       \
  X(comm_rank, "PMPI_Comm_rank", (dft__word, int *))                                                      \
  X(comm_size, "PMPI_Comm_size", (dft__word, int *))                                                      \
  X(comm_test_inter, "PMPI_Comm_test_inter", (dft__word, int *))                                          \
  X(comm_group, "PMPI_Comm_group", (dft__word, dft__word *))                                              \
  X(group_from_session_pset, "PMPI_Group_from_session_pset", (dft__word, const char *, dft__word *))      \
  X(comm_remote_group, "PMPI_Comm_remote_group", (dft__word, dft__word *))                                \
  X(group_rank, "PMPI_Group_rank", (dft__word, int *))                                                    \
  X(group_size, "PMPI_Group_size", (dft__word, int *))                                                    \
  X(group_free, "PMPI_Group_free", (dft__word *))                                                         \
  X(group_translate_ranks, "PMPI_Group_translate_ranks", (dft__word, int, const int *, dft__word, int *)) \
  X(type_size, "PMPI_Type_size", (dft__word, int *))                                                      \
  X(type_size_x, "PMPI_Type_size_x", (dft__word, int64_t *))                                              \
  X(topo_test, "PMPI_Topo_test", (dft__word, int *))                                                      \
  X(cartdim_get, "PMPI_Cartdim_get", (dft__word, int *))                                                  \
  X(cart_get, "PMPI_Cart_get", (dft__word, int, int *, int *, int *))                                     \
  X(graph_neighbors_count, "PMPI_Graph_neighbors_count", (dft__word, int, int *))                         \
  X(dist_graph_neighbors_count, "PMPI_Dist_graph_neighbors_count", (dft__word, int *, int *, int *))      \
  X(file_get_position, "PMPI_File_get_position", (dft__word, int64_t *))                                  \
  X(file_get_byte_offset, "PMPI_File_get_byte_offset", (dft__word, int64_t, int64_t *))

typedef struct dft__mpi_library {
  dft__mpi_family family;
#define DFT__MPI_POINTER(id, name, params) int(*id) params;
  DFT__MPI_FUNCTIONS(DFT__MPI_POINTER)
#undef DFT__MPI_POINTER
} dft__mpi_library;

/* Valid after dft__mpi_library_judge has returned DFT__MPI_OURS. */
extern dft__mpi_library dft__mpi;

/* Whether calls of this original are recorded. The library of the first call is the one of this process. Calls of another
 * one that is loaded, too, are left alone, and so is a family that is not known, which is reported once. */
enum dft__mpi_standing { DFT__MPI_UNJUDGED, DFT__MPI_OURS, DFT__MPI_OTHER };
enum dft__mpi_standing dft__mpi_library_judge(uintptr_t original);
/* There is one MPI library in this process. */
int dft__mpi_library_is_single(void);

/* Between MPI_Init and MPI_Finalize. A program may have sessions instead. */
int dft__mpi_is_running(void);

/* A handle among the arguments, or in the program's memory. */
static inline dft__word dft__mpi_handle(dft__word word) {
  return dft__mpi.family.handle_bytes == 4 ? (uint32_t)word : word;
}
static inline dft__word dft__mpi_handle_in(const void *array, uint64_t index) {
  return dft__mpi.family.handle_bytes == 4 ? ((const uint32_t *)array)[index] : ((const dft__word *)array)[index];
}

#endif
