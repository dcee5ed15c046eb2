/* handlemap.h - a table from handles to places, for things that a program has few of: communicators, windows, files.
 *
 * Looking a handle up takes no lock. Handles that find no place are not kept; the caller does without.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_HANDLEMAP_H
#define DFT_HANDLEMAP_H

#include <sched.h>

#include "base/atomic.h"

#define DFT__HANDLE_PLACES 4096u /* a power of two */
#define DFT__HANDLE_TRIES 64u
#define DFT__HANDLE_GONE UINT64_MAX

typedef struct dft__handle_map {
  _Atomic uint64_t handles[DFT__HANDLE_PLACES]; /* 0: never used */
} dft__handle_map;

/* For a few instructions, of threads that are in an MPI call. Zero after some milliseconds: the holder may be the very
 * thread that a signal handler with MPI calls has interrupted, or be missing in the child of a fork. */
#define DFT__SPINS_MOST 20000u
static inline int dft__spin_lock(_Atomic uint32_t *lock) {
  for (uint32_t tries = 1; atomic_exchange_explicit(lock, 1, memory_order_acquire); tries++) {
    if (tries == DFT__SPINS_MOST) return 0;
    if (tries % 16) dft__relax();
    else sched_yield();
  }
  return 1;
}
static inline void dft__spin_unlock(_Atomic uint32_t *lock) {
  DFT__RELEASE(*lock, 0);
}

static inline uint32_t dft__handle_place(uint64_t handle, uint32_t attempt) {
  return (uint32_t)((handle * 0x9e3779b97f4a7c15u >> 40) + attempt) % DFT__HANDLE_PLACES;
}

/* The place of a handle; DFT__HANDLE_PLACES: it has none. */
static inline uint32_t dft__handle_find(const dft__handle_map *map, uint64_t handle) {
  for (uint32_t attempt = 0; attempt < DFT__HANDLE_TRIES; attempt++) {
    uint32_t place = dft__handle_place(handle, attempt);
    uint64_t there = DFT__ACQUIRE(map->handles[place]);
    if (!there) break;
    if (there == handle) return place;
  }
  return DFT__HANDLE_PLACES;
}

/* A free place for a handle that has none, to be filled and then shown; DFT__HANDLE_PLACES: there is none. With a lock. */
static inline uint32_t dft__handle_reserve(const dft__handle_map *map, uint64_t handle) {
  for (uint32_t attempt = 0; attempt < DFT__HANDLE_TRIES; attempt++) {
    uint32_t place = dft__handle_place(handle, attempt);
    uint64_t there = DFT__GET(map->handles[place]);
    if (!there || there == DFT__HANDLE_GONE) return place;
  }
  return DFT__HANDLE_PLACES;
}
static inline void dft__handle_show(dft__handle_map *map, uint32_t place, uint64_t handle) {
  DFT__RELEASE(map->handles[place], handle);
}
static inline void dft__handle_remove(dft__handle_map *map, uint32_t place) {
  if (place < DFT__HANDLE_PLACES) DFT__SET(map->handles[place], DFT__HANDLE_GONE);
}

#endif
