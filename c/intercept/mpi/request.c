/* request.c - requests that are under way: a hash table, by handle and by the thread that began the request, whose cells come
 * from a pool of fixed size. Any thread may complete a request: then it is looked for with each thread that began some.
 * SPDX-License-Identifier: MIT */
#include "request.h"

#include <string.h>

#include "handlemap.h"
#include "record/thread.h"

#define CELLS 65536u
#define BUCKETS 4096u
#define THREADS 256u

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
static const void *threads[THREADS], *last_thread; /* that began requests */
static uint32_t thread_count;                      /* may be larger than THREADS: the others are not known */
static _Atomic uint32_t lock;

static struct request_bucket *bucket_of(uint64_t handle, const void *thread) {
  return &buckets[(handle ^ (uint64_t)(uintptr_t)thread) * 0x9e3779b97f4a7c15u >> 52];
}

static request_cell *cell_at(uint32_t reference) {
  return reference ? &cells[reference - 1] : NULL;
}

static __attribute__((noinline)) void note_thread(const void *thread) {
  last_thread = thread;
  for (uint32_t i = 0; i < thread_count && i < THREADS; i++) {
    if (threads[i] == thread) return;
  }
  if (thread_count < THREADS) threads[thread_count] = thread;
  if (thread_count <= THREADS) thread_count++;
}

static void keep(uint64_t handle, dft__request request, int is_persistent) {
  const void *thread = &dft__self;
  struct request_bucket *bucket = bucket_of(handle, thread);
  uint32_t reference;
  if (!dft__spin_lock(&lock)) return;
  if (DFT__UNLIKELY(last_thread != thread)) note_thread(thread);
  reference = free_cells;
  if (reference) free_cells = cell_at(reference)->next;
  else if (used_cells < CELLS) reference = ++used_cells;
  if (reference) {
    *cell_at(reference) = (request_cell){handle, request, thread, 0, (uint8_t)is_persistent, 0};
    if (bucket->last) cell_at(bucket->last)->next = reference;
    else bucket->first = reference;
    bucket->last = reference;
  }
  dft__spin_unlock(&lock);
}

/* A cell in its bucket. */
typedef struct request_place {
  struct request_bucket *bucket;
  uint32_t at, before;
} request_place;

/* The first cell of the handle that the thread began. */
static inline int find_in(request_place *place, uint64_t handle, const void *thread) {
  place->before = 0;
  for (place->at = place->bucket->first; place->at; place->at = cell_at(place->at)->next) {
    if (cell_at(place->at)->handle == handle && cell_at(place->at)->thread == thread) return 1;
    place->before = place->at;
  }
  return 0;
}

static __attribute__((noinline)) int find_of_others(request_place *place, uint64_t handle) {
  for (uint32_t i = 0; i < thread_count && i < THREADS; i++) {
    place->bucket = bucket_of(handle, threads[i]);
    if (find_in(place, handle, threads[i])) return 1;
  }
  for (uint32_t i = 0; thread_count > THREADS && i < BUCKETS; i++) {
    place->bucket = &buckets[i];
    place->before = 0;
    for (place->at = buckets[i].first; place->at; place->at = cell_at(place->at)->next) {
      if (cell_at(place->at)->handle == handle) return 1;
      place->before = place->at;
    }
  }
  return 0;
}

/* The first cell of the handle that this thread began, else one that another one began. With the lock. */
static int find(request_place *place, uint64_t handle) {
  const void *thread = &dft__self;
  place->bucket = bucket_of(handle, thread);
  return find_in(place, handle, thread) || find_of_others(place, handle);
}

static void discard(const request_place *place) {
  request_cell *cell = cell_at(place->at);
  if (place->before) cell_at(place->before)->next = cell->next;
  else place->bucket->first = cell->next;
  if (place->bucket->last == place->at) place->bucket->last = place->before;
  cell->next = free_cells;
  free_cells = place->at;
}

void dft__request_begin(uint64_t handle, uint64_t id, int64_t bytes) {
  keep(handle, (dft__request){id, bytes}, 0);
}

void dft__request_prepare(uint64_t handle, int64_t bytes) {
  keep(handle, (dft__request){0, bytes}, 1);
}

int64_t dft__request_start(uint64_t handle, uint64_t id) {
  request_place place;
  int64_t bytes = -1;
  if (!dft__spin_lock(&lock)) return -1;
  if (find(&place, handle)) {
    request_cell *cell = cell_at(place.at);
    cell->request.id = id;
    cell->is_started = 1;
    bytes = cell->request.bytes;
  }
  dft__spin_unlock(&lock);
  return bytes;
}

enum dft__request_state dft__request_take(uint64_t handle, dft__request *request) {
  request_place place;
  enum dft__request_state state = DFT__REQUEST_UNKNOWN;
  if (!dft__spin_lock(&lock)) return state;
  if (find(&place, handle)) {
    request_cell *cell = cell_at(place.at);
    *request = cell->request;
    state = cell->is_persistent && !cell->is_started ? DFT__REQUEST_IDLE : DFT__REQUEST_COMPLETE;
    cell->request.id = 0;
    cell->is_started = 0;
    if (!cell->is_persistent) discard(&place);
  }
  dft__spin_unlock(&lock);
  return state;
}

void dft__request_drop(uint64_t handle) {
  request_place place;
  if (!dft__spin_lock(&lock)) return;
  if (find(&place, handle)) discard(&place);
  dft__spin_unlock(&lock);
}

void dft__request_forget_all(void) {
  if (!dft__spin_lock(&lock)) return;
  memset(buckets, 0, sizeof buckets);
  free_cells = used_cells = thread_count = 0;
  last_thread = NULL;
  dft__spin_unlock(&lock);
}
