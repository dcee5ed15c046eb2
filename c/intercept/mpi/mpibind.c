/* mpibind.c - binds the MPI calls of this process in place.
 *
 * MPI_X and PMPI_X are both bound, because Fortran's functions call either, and so do programs. An import slot that the
 * dynamic linker has filled tells its original. For one that it has not, the original is the first definition in the
 * order of loading, unless there are several MPI libraries: then nobody can tell.
 * SPDX-License-Identifier: MIT */
#include "mpibind.h"

#include <string.h>

#include "../loadedobject.h"
#include "base/atomic.h"
#include "base/config.h"
#include "base/signals.h"
#include "communicator.h"
#include "mpislot.h"
#include "request.h"

static _Atomic uint32_t lock;
static _Atomic uint64_t looked_at; /* how many objects had been loaded by then */
static _Atomic int is_loaded;
static int is_single; /* there are no other MPI libraries; with the lock */
/* New objects come last, unless one was unloaded since. An object is settled when two walks have seen it: the first may
 * have come before the dynamic linker had finished it. */
static uint64_t last_seen, settled, unloads;

/* Another thread may be loading the object: then its slots may hold offsets in place of addresses. */
static int is_unfinished(const dft__loaded *object, uintptr_t value) {
  return object->base && dft__loaded_holds(object, object->base + value);
}

static void bind_import(dft__loaded *object, const dft__import *import, void *unused) {
  uintptr_t value, slot;
  dft__mpi_row *row;
  (void)unused;
  if (!(import->name[0] == 'M' && import->name[1] == 'P') && !(import->name[0] == 'P' && import->name[1] == 'M'))
    return;
  row = dft__mpi_row_find(import->name);
  value = row ? dft__import_value(import) : 0;
  if (!value || dft__mpi_slot_at(value) || is_unfinished(object, value)) return;
  if (dft__import_is_unbound(object, import, value)) value = is_single ? dft__loaded_find(import->name) : 0;
  slot = value ? dft__mpi_slot_for(row, value) : 0;
  if (slot) dft__import_store(object, import, slot);
}

static void unbind_import(dft__loaded *object, const dft__import *import, void *unused) {
  const dft__mpi_slot *slot = dft__mpi_slot_at(dft__import_value(import));
  (void)unused;
  if (slot) dft__import_store(object, import, slot->original);
}

typedef struct mpi_walk {
  dft__import_use *use;
  uint64_t skip, objects, unloads;
} mpi_walk;

static int walk_one(struct dl_phdr_info *info, size_t size, void *context) {
  mpi_walk *own = context;
  dft__loaded object;
  (void)size;
  own->unloads = info->dlpi_subs;
  if (own->objects++ < own->skip && info->dlpi_subs == unloads) return 0;
  if (dft__loaded_read(&object, info)) dft__loaded_imports(&object, own->use, NULL);
  return 0;
}

static void bind_new(void) {
  mpi_walk own = {.use = bind_import, .skip = settled};
  is_single = dft__mpi_library_is_single();
  dl_iterate_phdr(walk_one, &own);
  settled = own.unloads == unloads ? last_seen : 0;
  last_seen = own.objects;
  unloads = own.unloads;
}

int dft__mpi_is_loaded(void) {
  if (!DFT__GET(is_loaded)) DFT__SET(is_loaded, dft__loaded_find("PMPI_Init") != 0);
  return DFT__GET(is_loaded);
}

/* Whoever finds another thread at it goes on: it might wait for ever in the child of a fork. */
static int try_lock(void) {
  return !atomic_exchange_explicit(&lock, 1, memory_order_acquire);
}

void dft__mpi_bind(void) {
  uint64_t loads = dft__loads_so_far();
  uint64_t before;
  if (loads == DFT__GET(looked_at) || dft__config_number(DFT__DISABLE_MPI)) return;
  before = dft__signals_block();
  if (try_lock()) {
    if (dft__mpi_is_loaded()) bind_new();
    DFT__SET(looked_at, loads);
    DFT__RELEASE(lock, 0);
  }
  dft__signals_restore(before);
}

void dft__mpi_unbind(void) {
  mpi_walk own = {.use = unbind_import};
  if (!try_lock()) return;
  if (DFT__GET(is_loaded)) dl_iterate_phdr(walk_one, &own);
  last_seen = settled = 0;
  DFT__SET(looked_at, 0);
  DFT__RELEASE(lock, 0);
}

void dft__mpi_forget(void) {
  if (!dft__mpi.initialized) return; /* there was no call yet */
  dft__comm_forget_all();
  dft__request_forget_all();
}
