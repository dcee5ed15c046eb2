/* request.c - requests that are under way: cells from a pool of fixed size, each in two lists of a hash table. One is of the
 * handle and the thread that began it, the other of the handle alone: any thread may complete a request.
 * SPDX-License-Identifier: MIT */
#include "request.h"

#include <string.h>

#include "handlemap.h"
#include "record/thread.h"

#define CELLS 65536u
#define BUCKETS 4096u

enum request_index { OF_THREAD, OF_ALL, INDEXES };

typedef struct request_cell {
  uint64_t handle;
  dft__request request;
  const void *thread;                      /* that began it */
  uint32_t next[INDEXES], before[INDEXES]; /* cell + 1; 0: none */
  uint8_t is_persistent, is_started;
} request_cell;

static request_cell cells[CELLS] DFT__LARGE;
static struct request_bucket { uint32_t first, last; } buckets[INDEXES][BUCKETS] DFT__LARGE;
static uint32_t free_cells, used_cells;
static _Atomic uint32_t lock;

static struct request_bucket *bucket_of(uint64_t handle, const void *thread, enum request_index index) {
  if (index == OF_THREAD) handle ^= (uint64_t)(uintptr_t)thread;
  return &buckets[index][handle * 0x9e3779b97f4a7c15u >> 52];
}

static request_cell *cell_at(uint32_t reference) {
  return reference ? &cells[reference - 1] : NULL;
}

static void append(uint32_t at, enum request_index index) {
  request_cell *cell = cell_at(at);
  struct request_bucket *bucket = bucket_of(cell->handle, cell->thread, index);
  cell->before[index] = bucket->last;
  if (bucket->last) cell_at(bucket->last)->next[index] = at;
  else bucket->first = at;
  bucket->last = at;
}

static void cut_out(uint32_t at, enum request_index index) {
  const request_cell *cell = cell_at(at);
  struct request_bucket *bucket = bucket_of(cell->handle, cell->thread, index);
  if (cell->before[index]) cell_at(cell->before[index])->next[index] = cell->next[index];
  else bucket->first = cell->next[index];
  if (cell->next[index]) cell_at(cell->next[index])->before[index] = cell->before[index];
  else bucket->last = cell->before[index];
}

static void keep(uint64_t handle, dft__request request, int is_persistent) {
  uint32_t reference;
  if (!dft__spin_lock(&lock)) return;
  reference = free_cells;
  if (reference) free_cells = cell_at(reference)->next[OF_ALL];
  else if (used_cells < CELLS) reference = ++used_cells;
  if (reference) {
    *cell_at(reference) = (request_cell){
      .handle = handle, .request = request, .thread = &dft__self, .is_persistent = (uint8_t)is_persistent};
    append(reference, OF_THREAD);
    append(reference, OF_ALL);
  }
  dft__spin_unlock(&lock);
}

/* The first cell of the handle that this thread began, else the first of all. With the lock. */
static uint32_t find(uint64_t handle) {
  const void *thread = &dft__self;
  for (uint32_t at = bucket_of(handle, thread, OF_THREAD)->first; at; at = cell_at(at)->next[OF_THREAD]) {
    if (cell_at(at)->handle == handle && cell_at(at)->thread == thread) return at;
  }
  for (uint32_t at = bucket_of(handle, thread, OF_ALL)->first; at; at = cell_at(at)->next[OF_ALL]) {
    if (cell_at(at)->handle == handle) return at;
  }
  return 0;
}

static void discard(uint32_t at) {
  cut_out(at, OF_THREAD);
  cut_out(at, OF_ALL);
  cell_at(at)->next[OF_ALL] = free_cells;
  free_cells = at;
}

void dft__request_begin(uint64_t handle, uint64_t id, int64_t bytes) {
  keep(handle, (dft__request){id, bytes}, 0);
}

void dft__request_prepare(uint64_t handle, int64_t bytes) {
  keep(handle, (dft__request){0, bytes}, 1);
}

int64_t dft__request_start(uint64_t handle, uint64_t id) {
  uint32_t at;
  int64_t bytes = -1;
  if (!dft__spin_lock(&lock)) return -1;
  at = find(handle);
  if (at) {
    cell_at(at)->request.id = id;
    cell_at(at)->is_started = 1;
    bytes = cell_at(at)->request.bytes;
  }
  dft__spin_unlock(&lock);
  return bytes;
}

enum dft__request_state dft__request_take(uint64_t handle, dft__request *request) {
  uint32_t at;
  enum dft__request_state state = DFT__REQUEST_UNKNOWN;
  if (!dft__spin_lock(&lock)) return state;
  at = find(handle);
  if (at) {
    request_cell *cell = cell_at(at);
    *request = cell->request;
    state = cell->is_persistent && !cell->is_started ? DFT__REQUEST_IDLE : DFT__REQUEST_COMPLETE;
    cell->request.id = 0;
    cell->is_started = 0;
    if (!cell->is_persistent) discard(at);
  }
  dft__spin_unlock(&lock);
  return state;
}

void dft__request_drop(uint64_t handle) {
  uint32_t at;
  if (!dft__spin_lock(&lock)) return;
  at = find(handle);
  if (at) discard(at);
  dft__spin_unlock(&lock);
}

void dft__request_forget_all(void) {
  if (!dft__spin_lock(&lock)) return;
  memset(buckets, 0, sizeof buckets);
  free_cells = used_cells = 0;
  dft__spin_unlock(&lock);
}
