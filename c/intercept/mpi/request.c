/* request.c - requests that are under way: a hash table whose cells come from a pool of fixed size.
 * SPDX-License-Identifier: MIT */
#include "request.h"

#include <string.h>

#include "handlemap.h"
#include "record/thread.h"

#define CELLS 65536u
#define BUCKETS 4096u

typedef struct request_cell {
  uint64_t handle;
  dft__request request;
  const void *thread; /* that began it */
  uint32_t next;      /* cell + 1; 0: none */
  uint8_t is_persistent, is_started;
} request_cell;

static request_cell cells[CELLS] DFT__LARGE;
static struct request_bucket { uint32_t first, last; } buckets[BUCKETS] DFT__LARGE;
static uint32_t free_cells, used_cells;
static _Atomic uint32_t lock;

static struct request_bucket *bucket_of(uint64_t handle) {
  return &buckets[handle * 0x9e3779b97f4a7c15u >> 52];
}

static request_cell *cell_at(uint32_t reference) {
  return reference ? &cells[reference - 1] : NULL;
}

static void keep(uint64_t handle, dft__request request, int is_persistent) {
  struct request_bucket *bucket = bucket_of(handle);
  uint32_t reference;
  if (!dft__spin_lock(&lock)) return;
  reference = free_cells;
  if (reference) free_cells = cell_at(reference)->next;
  else if (used_cells < CELLS) reference = ++used_cells;
  if (reference) {
    *cell_at(reference) = (request_cell){handle, request, &dft__self, 0, (uint8_t)is_persistent, 0};
    if (bucket->last) cell_at(bucket->last)->next = reference;
    else bucket->first = reference;
    bucket->last = reference;
  }
  dft__spin_unlock(&lock);
}

/* The first cell of the handle that this thread began, else the first of all; and the one before it. With the lock. */
static uint32_t find(uint64_t handle, uint32_t *before) {
  uint32_t found = 0, last = 0;
  *before = 0;
  for (uint32_t at = bucket_of(handle)->first; at; last = at, at = cell_at(at)->next) {
    int is_own = cell_at(at)->thread == &dft__self;
    if (cell_at(at)->handle != handle || (found && !is_own)) continue;
    found = at;
    *before = last;
    if (is_own) break;
  }
  return found;
}

static void discard(uint64_t handle, uint32_t at, uint32_t before) {
  struct request_bucket *bucket = bucket_of(handle);
  request_cell *cell = cell_at(at);
  if (before) cell_at(before)->next = cell->next;
  else bucket->first = cell->next;
  if (bucket->last == at) bucket->last = before;
  cell->next = free_cells;
  free_cells = at;
}

void dft__request_begin(uint64_t handle, uint64_t id, int64_t bytes) {
  keep(handle, (dft__request){id, bytes}, 0);
}

void dft__request_prepare(uint64_t handle, int64_t bytes) {
  keep(handle, (dft__request){0, bytes}, 1);
}

int64_t dft__request_start(uint64_t handle, uint64_t id) {
  uint32_t before, at;
  int64_t bytes = -1;
  if (!dft__spin_lock(&lock)) return -1;
  at = find(handle, &before);
  if (at) {
    cell_at(at)->request.id = id;
    cell_at(at)->is_started = 1;
    bytes = cell_at(at)->request.bytes;
  }
  dft__spin_unlock(&lock);
  return bytes;
}

enum dft__request_state dft__request_take(uint64_t handle, dft__request *request) {
  uint32_t before, at;
  enum dft__request_state state = DFT__REQUEST_UNKNOWN;
  if (!dft__spin_lock(&lock)) return state;
  at = find(handle, &before);
  if (at) {
    request_cell *cell = cell_at(at);
    *request = cell->request;
    state = cell->is_persistent && !cell->is_started ? DFT__REQUEST_IDLE : DFT__REQUEST_COMPLETE;
    cell->request.id = 0;
    cell->is_started = 0;
    if (!cell->is_persistent) discard(handle, at, before);
  }
  dft__spin_unlock(&lock);
  return state;
}

void dft__request_drop(uint64_t handle) {
  uint32_t before, at;
  if (!dft__spin_lock(&lock)) return;
  at = find(handle, &before);
  if (at) discard(handle, at, before);
  dft__spin_unlock(&lock);
}

void dft__request_forget_all(void) {
  if (!dft__spin_lock(&lock)) return;
  memset(buckets, 0, sizeof buckets);
  free_cells = used_cells = 0;
  dft__spin_unlock(&lock);
}
