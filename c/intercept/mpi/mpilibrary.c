/* mpilibrary.c - the MPI library of this process: which family it is of, its constants, and its functions that we call.
 * SPDX-License-Identifier: MIT */
#include "mpilibrary.h"

#include <string.h>

#include "../loadedobject.h"
#include "base/atomic.h"
#include "base/log.h"
#include "base/mpimarks.h"

/* Its handles are the addresses of symbols. */
static const dft__mpi_family open_mpi = {
  .handle_bytes = 8,
  .status_source = 0,
  .any_source = -1,
  .any_tag = -1,
  .proc_null = -2,
  .root = -4,
  .cart = 1,
  .graph = 2,
  .dist_graph = 3,
  .mode_sequential = 256,
  .in_place = 1,
  .status_ignore = 0,
};
/* MPICH and those with its ABI: Intel MPI, Cray MPICH, MVAPICH. */
static const dft__mpi_family mpich = {
  .handle_bytes = 4,
  .status_source = 8,
  .any_source = -2,
  .any_tag = -1,
  .proc_null = -1,
  .root = -3,
  .cart = 2,
  .graph = 1,
  .dist_graph = 3,
  .mode_sequential = 256,
  .in_place = (dft__word)-1,
  .status_ignore = 1,
  .world = 0x44000000,
  .self = 0x44000001,
  .comm_null = 0x04000000,
  .request_null = 0x2c000000,
};
/* The ABI of the MPI standard, version 5. */
static const dft__mpi_family standard = {
  .handle_bytes = 8,
  .status_source = 0,
  .any_source = -1,
  .any_tag = -2,
  .proc_null = -3,
  .root = -4,
  .cart = 211,
  .graph = 212,
  .dist_graph = 213,
  .mode_sequential = 64,
  .in_place = 1,
  .status_ignore = 0,
  .world = 0x101,
  .self = 0x102,
  .comm_null = 0x100,
  .request_null = 0x180,
};

#define VERSION_BYTES 8192 /* the longest MPI_MAX_LIBRARY_VERSION_STRING of these families */
enum { UNDECIDED = 0, KNOWN = 1, UNKNOWN = 2, DECIDING = 3 };

dft__mpi_library dft__mpi;
static _Atomic uint32_t state;

static int is_abi(void) {
  int major = 0, minor = 0;
  return dft__mpi.abi_get_version && dft__mpi.abi_get_version(&major, &minor) == 0 && major == 1;
}

static int is_like_mpich(void) {
  static char text[VERSION_BYTES] DFT__LARGE;
  static const char *const marks[] = {DFT__MPI_MARKS_MPICH};
  int len = 0;
  if (!dft__mpi.get_library_version || dft__mpi.get_library_version(text, &len) != 0) return 0;
  text[VERSION_BYTES - 1] = '\0';
  for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
    if (strstr(text, marks[i])) return 1;
  }
  return 0;
}

/* ---- Which one it is ---------------------------------------------------------------------------------------------- */

/* Several may be loaded, and only one of them may be initialised. */
typedef struct owner_search {
  uintptr_t original;
  dft__loaded owner, last;
  uint32_t count;
  int has_owner;
} owner_search;

static dft__loaded library;
static int is_only; /* there is no other MPI library, so functions may be anywhere */

static int look_for_owner(struct dl_phdr_info *info, size_t size, void *context) {
  owner_search *search = context;
  dft__loaded object;
  (void)size;
  if (!dft__loaded_read(&object, info) || !dft__loaded_symbol(&object, "PMPI_Init", dft__gnu_hash("PMPI_Init")))
    return 0;
  search->count++;
  search->last = object;
  if (!dft__loaded_holds(&object, search->original)) return 0;
  search->owner = object;
  search->has_owner = 1;
  return 0;
}

/* The library behind the original. If that is a profiling tool's, it is the only one, or not known. */
static int find_owner(uintptr_t original, dft__loaded *owner, int *is_alone) {
  owner_search search = {.original = original};
  dl_iterate_phdr(look_for_owner, &search);
  *is_alone = search.count == 1;
  *owner = search.has_owner ? search.owner : search.last;
  return search.has_owner || search.count == 1;
}

int dft__mpi_library_is_single(void) {
  owner_search search = {0};
  dl_iterate_phdr(look_for_owner, &search);
  return search.count == 1;
}

static uintptr_t find(const char *name) {
  uintptr_t address = dft__loaded_symbol(&library, name, dft__gnu_hash(name));
  return address || !is_only ? address : dft__loaded_find(name);
}

static int find_family(dft__mpi_family *family) {
  if (is_abi()) {
    *family = standard;
  } else if (find(DFT__MPI_MARK_OPEN_MPI)) {
    *family = open_mpi; /* the program may have copies of its symbols, which come first */
    family->world = dft__loaded_find(DFT__MPI_MARK_OPEN_MPI);
    family->self = dft__loaded_find("ompi_mpi_comm_self");
    family->comm_null = dft__loaded_find("ompi_mpi_comm_null");
    family->request_null = dft__loaded_find("ompi_request_null");
  } else if (is_like_mpich()) {
    *family = mpich;
  } else {
    return 0;
  }
  return 1;
}

/* Functions that newer standards or older libraries do not have may be missing. */
static int has_functions(void) {
  return dft__mpi.initialized && dft__mpi.finalized && dft__mpi.comm_rank && dft__mpi.comm_size &&
         dft__mpi.comm_test_inter && dft__mpi.comm_group && dft__mpi.comm_remote_group && dft__mpi.group_rank &&
         dft__mpi.group_size && dft__mpi.group_free && dft__mpi.group_translate_ranks && dft__mpi.type_size;
}

/* At the first call. */
static void learn(const dft__loaded *owner, int is_alone) {
  library = *owner;
  is_only = is_alone;
#define FIND(id, name, params) dft__mpi.id = (int(*) params)find(name);
  DFT__MPI_FUNCTIONS(FIND)
#undef FIND
  if (has_functions() && find_family(&dft__mpi.family)) {
    DFT__RELEASE(state, KNOWN);
    return;
  }
  DFT__RELEASE(state, UNKNOWN);
  dft__log(DFT__LOG_MPI, DFT__LOG_ERROR,
           "this MPI library is none of those that dftracer knows (Open MPI, MPICH and its ABI, the MPI 5 ABI); its "
           "calls are not recorded (DFTRACER_DISABLE_MPI=1 silences this)");
}

enum dft__mpi_standing dft__mpi_library_judge(uintptr_t original) {
  uint32_t undecided = UNDECIDED;
  dft__loaded owner;
  int is_alone;
  if (!find_owner(original, &owner, &is_alone)) return DFT__MPI_UNJUDGED;
  if (atomic_compare_exchange_strong(&state, &undecided, DECIDING)) learn(&owner, is_alone);
  switch (DFT__ACQUIRE(state)) {
    case KNOWN: return owner.base == library.base ? DFT__MPI_OURS : DFT__MPI_OTHER;
    case UNKNOWN: return DFT__MPI_OTHER;
    default: return DFT__MPI_UNJUDGED;
  }
}

int dft__mpi_is_running(void) {
  int is_initialized = 0, is_finalized = 1;
  return dft__mpi.initialized(&is_initialized) == 0 && is_initialized && dft__mpi.finalized(&is_finalized) == 0 &&
         !is_finalized;
}
