/* communicator.c - what is known of each communicator: its id, its size, and which world ranks its ranks are.
 * SPDX-License-Identifier: MIT */
#include "communicator.h"

#include <string.h>
#include <sys/mman.h>

#include "handlemap.h"

static dft__handle_map known DFT__LARGE;
static dft__comm comms[DFT__HANDLE_PLACES] DFT__LARGE;
static dft__handle_map windows DFT__LARGE;
static dft__comm window_comms[DFT__HANDLE_PLACES] DFT__LARGE; /* copies: a window may outlive its communicator */
static dft__handle_map part_ids DFT__LARGE;                   /* of communicators that a part of an old one made */
static uint32_t part_turns[DFT__HANDLE_PLACES] DFT__LARGE;
static _Atomic uint32_t lock;

/* ---- Ids ---------------------------------------------------------------------------------------------------------- */

#define SEED 0xcbf29ce484222325u

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

/* 0 is that of MPI_COMM_WORLD alone. */
static uint32_t folded(uint64_t hash) {
  uint32_t id = (uint32_t)(hash ^ hash >> 32);
  return id ? id : 1;
}

/* ---- The world ---------------------------------------------------------------------------------------------------- */

static _Atomic(dft__word) session; /* one that is open; 0: none */

void dft__session_begun(dft__word begun) {
  DFT__SET(session, begun);
}

void dft__session_ends(dft__word ended) {
  if (DFT__GET(session) == ended) DFT__SET(session, 0);
}

/* Returns 0 if there is none. The caller frees the group. */
static int world_group(dft__word *group) {
  if (dft__mpi_is_running()) return dft__mpi.comm_group(dft__mpi.family.world, group) == 0;
  return DFT__GET(session) && dft__mpi.group_from_session_pset &&
         dft__mpi.group_from_session_pset(DFT__GET(session), "mpi://WORLD", group) == 0;
}

int dft__world_place(int *rank, int *size) {
  dft__word all = 0;
  int is_known;
  if (!world_group(&all)) return 0;
  is_known = dft__mpi.group_rank(all, rank) == 0 && dft__mpi.group_size(all, size) == 0 && *rank >= 0;
  dft__mpi.group_free(&all);
  return is_known;
}

/* ---- Ranks -------------------------------------------------------------------------------------------------------- */

static size_t bytes_for(int32_t ranks) {
  return (size_t)ranks * sizeof(int32_t);
}

/* Plain pages, because nothing in a recording call may allocate. */
static int32_t *pages(size_t bytes) {
  void *at = bytes ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
  return at == MAP_FAILED ? NULL : at;
}

/* The world ranks of a group's members, and a hash of them. NULL if they are 0, 1, 2 ..., or cannot be known; then the
 * hash is of their number alone. */
static int32_t *world_ranks(dft__word group, int32_t size, uint64_t *hash, int *is_unknown) {
  int32_t *both = pages(2 * bytes_for(size)); /* theirs, ours */
  int32_t *world = both ? both + size : NULL;
  dft__word all = 0;
  int is_same = 1;
  *hash = mix(SEED, (uint64_t)size);
  *is_unknown = 1;
  if (!both) return NULL;
  for (int32_t i = 0; i < size; i++) both[i] = i;
  if (world_group(&all)) {
    *is_unknown = dft__mpi.group_translate_ranks(group, size, both, all, world) != 0;
    dft__mpi.group_free(&all);
  }
  for (int32_t i = 0; i < size && !*is_unknown; i++) {
    if (world[i] < 0) world[i] = -1; /* MPI_UNDEFINED */
    *hash = mix(*hash, (uint64_t)(uint32_t)world[i]);
    is_same &= world[i] == i;
  }
  if (*is_unknown || is_same) {
    munmap(both, 2 * bytes_for(size));
    return NULL;
  }
  memmove(both, world, bytes_for(size));
  return both;
}

static void copy_comm(dft__comm *to, const dft__comm *from) {
  *to = *from;
  if (!from->world) return;
  to->world = pages(2 * bytes_for(from->peers));
  if (to->world) memcpy(to->world, from->world, bytes_for(from->peers));
  else to->is_placed = 0;
}

static void drop_world(dft__comm *comm) {
  if (comm->world) munmap(comm->world, 2 * bytes_for(comm->peers));
  comm->world = NULL;
}

/* Asks the library. The id is that of a communicator of these ranks whose origin is not known. */
static int ask(dft__comm *comm, dft__word handle) {
  dft__word group = 0, remote = 0;
  uint64_t hash, other;
  int is_unknown = 0, is_other_unknown;
  *comm = (dft__comm){.neighbors = -1};
  if (dft__mpi.comm_size(handle, &comm->size) != 0 || dft__mpi.comm_rank(handle, &comm->rank) != 0 ||
      dft__mpi.comm_test_inter(handle, &comm->is_inter) != 0)
    return 0;
  comm->peers = comm->size;
  comm->is_placed = handle == dft__mpi.family.world;
  if (comm->is_placed) return 1;
  if (dft__mpi.comm_group(handle, &group) != 0) return 0;
  comm->world = world_ranks(group, comm->size, &hash, &is_unknown);
  dft__mpi.group_free(&group);
  if (comm->is_inter) {
    drop_world(comm);
    comm->peers = 0;
    if (dft__mpi.comm_remote_group(handle, &remote) != 0 || dft__mpi.group_size(remote, &comm->peers) != 0) return 0;
    comm->world = world_ranks(remote, comm->peers, &other, &is_other_unknown);
    dft__mpi.group_free(&remote);
    is_unknown |= is_other_unknown;
    hash += other; /* the same from both sides */
  }
  comm->is_placed = !is_unknown;
  comm->id = folded(handle == dft__mpi.family.self ? mix(hash, 1) : hash);
  return 1;
}

/* ---- Communicators ------------------------------------------------------------------------------------------------ */

dft__comm *dft__comm_find(dft__word handle) {
  uint32_t place = dft__handle_find(&known, handle);
  return place < DFT__HANDLE_PLACES ? &comms[place] : NULL;
}

/* Another thread may have been faster, or there is no place: then the new one is not needed. */
static dft__comm *add(dft__word handle, dft__comm *comm) {
  uint32_t place = DFT__HANDLE_PLACES;
  if (dft__spin_lock(&lock)) {
    if (dft__handle_find(&known, handle) == DFT__HANDLE_PLACES) place = dft__handle_reserve(&known, handle);
    if (place < DFT__HANDLE_PLACES) {
      comms[place] = *comm;
      dft__handle_show(&known, place, handle);
    }
    dft__spin_unlock(&lock);
  }
  if (place == DFT__HANDLE_PLACES) drop_world(comm);
  return dft__comm_find(handle);
}

dft__comm *dft__comm_get(dft__word handle) {
  dft__comm *comm = dft__comm_find(handle), new_one;
  if (comm) return comm;
  if (handle == dft__mpi.family.comm_null || !ask(&new_one, handle)) return NULL;
  return add(handle, &new_one);
}

/* How many with this id there were before. All their ranks make each of them, so it is the same on all. */
static uint32_t next_turn(uint32_t id) {
  uint32_t place, turn = 0;
  if (!dft__spin_lock(&lock)) return 0;
  place = dft__handle_find(&part_ids, id);
  if (place == DFT__HANDLE_PLACES && (place = dft__handle_reserve(&part_ids, id)) < DFT__HANDLE_PLACES) {
    part_turns[place] = 0;
    dft__handle_show(&part_ids, place, id);
  }
  if (place < DFT__HANDLE_PLACES) turn = part_turns[place]++;
  dft__spin_unlock(&lock);
  return turn;
}

static uint32_t id_of_part(uint32_t of_ranks, int32_t tag) {
  const uint32_t id = folded(mix(of_ranks, (uint64_t)(uint32_t)tag));
  const uint32_t turn = next_turn(id);
  return turn ? folded(mix(id, turn)) : id;
}

void dft__comm_made(dft__comm *old, dft__word handle, enum dft__comm_origin origin, int32_t tag) {
  dft__comm comm;
  uint32_t turn = old && origin != DFT__COMM_OF_PART ? ++old->made : 0;
  if (handle == dft__mpi.family.comm_null) return;
  if (origin == DFT__COMM_LATER) { /* the library cannot be asked yet, but it has the ranks of the old one */
    if (!old) return;
    copy_comm(&comm, old);
    comm.made = 0;
    comm.id = folded(mix(SEED, (uint64_t)comm.size + (uint64_t)comm.peers)); /* the same from both sides */
  } else if (!ask(&comm, handle)) {
    return;
  }
  if (old && origin != DFT__COMM_OF_PART) comm.id = folded(mix(mix(mix(SEED, old->id), turn), comm.id));
  else comm.id = id_of_part(comm.id, tag);
  dft__comm_free(handle);
  add(handle, &comm);
}

void dft__comm_free(dft__word handle) {
  uint32_t place;
  if (!dft__spin_lock(&lock)) return;
  place = dft__handle_find(&known, handle);
  dft__handle_remove(&known, place);
  if (place < DFT__HANDLE_PLACES) drop_world(&comms[place]);
  dft__spin_unlock(&lock);
}

/* ---- Neighbours --------------------------------------------------------------------------------------------------- */

#define DIMENSIONS_MOST 32

/* A grid has two places for each dimension. Where it ends, nobody is there. */
static int grid_places(dft__comm *comm, dft__word handle) {
  int count = 0, sizes[DIMENSIONS_MOST], is_ring[DIMENSIONS_MOST], at[DIMENSIONS_MOST];
  if (!dft__mpi.cartdim_get || dft__mpi.cartdim_get(handle, &count) != 0) return 0;
  if (!dft__mpi.cart_get || count > DIMENSIONS_MOST ||
      dft__mpi.cart_get(handle, DIMENSIONS_MOST, sizes, is_ring, at) != 0)
    return 2 * count;
  for (int i = 0; i < count; i++) {
    if (!is_ring[i] && at[i] == 0) comm->nobody |= UINT64_C(1) << 2 * i;
    if (!is_ring[i] && at[i] == sizes[i] - 1) comm->nobody |= UINT64_C(2) << 2 * i;
  }
  return 2 * count;
}

int32_t dft__comm_neighbors(dft__comm *comm, dft__word handle) {
  int kind = 0, in = 0, out = 0, is_weighted = 0;
  if (comm->neighbors >= 0) return comm->neighbors;
  if (!dft__mpi.topo_test || dft__mpi.topo_test(handle, &kind) != 0) return 0;
  if (kind == dft__mpi.family.cart) out = grid_places(comm, handle);
  else if (kind == dft__mpi.family.graph && dft__mpi.graph_neighbors_count)
    dft__mpi.graph_neighbors_count(handle, comm->rank, &out);
  else if (kind == dft__mpi.family.dist_graph && dft__mpi.dist_graph_neighbors_count)
    dft__mpi.dist_graph_neighbors_count(handle, &in, &out, &is_weighted);
  return comm->neighbors = out;
}

/* ---- Windows ------------------------------------------------------------------------------------------------------ */

void dft__window_made(dft__word window, const dft__comm *comm) {
  uint32_t place;
  if (!dft__spin_lock(&lock)) return;
  place = dft__handle_find(&windows, window);
  if (place == DFT__HANDLE_PLACES) place = dft__handle_reserve(&windows, window);
  if (place < DFT__HANDLE_PLACES) {
    copy_comm(&window_comms[place], comm);
    dft__handle_show(&windows, place, window);
  }
  dft__spin_unlock(&lock);
}

dft__comm *dft__window_comm(dft__word window) {
  uint32_t place = dft__handle_find(&windows, window);
  return place < DFT__HANDLE_PLACES ? &window_comms[place] : NULL;
}

void dft__window_free(dft__word window) {
  uint32_t place;
  if (!dft__spin_lock(&lock)) return;
  place = dft__handle_find(&windows, window);
  dft__handle_remove(&windows, place);
  if (place < DFT__HANDLE_PLACES) drop_world(&window_comms[place]);
  dft__spin_unlock(&lock);
}

/* ---- A new trace -------------------------------------------------------------------------------------------------- */

/* `all`: NULL, if there is nothing to free. */
static void forget(dft__handle_map *map, dft__comm *all) {
  for (uint32_t place = 0; place < DFT__HANDLE_PLACES; place++) {
    const uint64_t handle = DFT__GET(map->handles[place]);
    if (all && handle && handle != DFT__HANDLE_GONE) drop_world(&all[place]);
    if (handle) DFT__SET(map->handles[place], 0);
  }
}

void dft__comm_forget_all(void) {
  if (!dft__spin_lock(&lock)) return;
  forget(&known, comms);
  forget(&windows, window_comms);
  forget(&part_ids, NULL);
  dft__spin_unlock(&lock);
}
