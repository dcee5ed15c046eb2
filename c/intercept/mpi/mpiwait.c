/* mpiwait.c - what waits and tests complete, and what MPI_Start starts.
 * SPDX-License-Identifier: MIT */
#include "mpiwait.h"

#include <sys/mman.h>

#include "request.h"

static uint64_t *pages_for(uint32_t count) {
  void *at = mmap(NULL, count * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

void dft__mpi_waits_note(dft__mpi_waits *list, const dft__mpi_args *args) {
  int32_t count = dft__mpi_has(args, 'k') ? dft__mpi_int(args, 'k') : 1;
  const void *handles = dft__mpi_pointer(args, 'Q');
  list->count = count < 0 || !handles ? 0 : (uint32_t)count;
  list->all = list->count <= DFT__MPI_FEW_WAITS ? list->few : pages_for(list->count);
  list->is_lost = !list->all;
  for (uint32_t i = 0; i < list->count && list->all; i++) list->all[i] = dft__mpi_handle_in(handles, i);
}

void dft__mpi_waits_forget(dft__mpi_waits *list) {
  if (list->all && list->all != list->few) munmap(list->all, list->count * sizeof(uint64_t));
}

typedef struct wait_sum {
  int64_t bytes;
  uint32_t completed, unmatched, starts;
} wait_sum;

static void complete(const dft__mpi_event *event, uint64_t handle, wait_sum *sum) {
  dft__request request;
  enum dft__request_state state;
  if (handle == dft__mpi.family.request_null) return;
  state = dft__request_take(handle, &request);
  if (state == DFT__REQUEST_IDLE) return;
  sum->completed++;
  if (state == DFT__REQUEST_UNKNOWN) {
    sum->unmatched++;
    return;
  }
  if (request.bytes > 0) sum->bytes += request.bytes;
  else if (request.bytes < 0) sum->unmatched++;
  if (request.id && sum->starts < DFT__MPI_STARTS_MOST)
    dft__mpi_put(event, DFT__MPI_KEY_FIRST_START + sum->starts++, (int64_t)request.id);
}

/* After a wait or test that succeeded. */
static void complete_all(const dft__mpi_event *event, const dft__mpi_waits *list, wait_sum *sum) {
  const dft__mpi_args *args = &event->args;
  if (dft__mpi_has(args, 'f') && !*(const int *)dft__mpi_pointer(args, 'f')) return;
  if (dft__mpi_has(args, 'i')) {
    int32_t index = *(const int *)dft__mpi_pointer(args, 'i'); /* MPI_UNDEFINED: none */
    if (index >= 0 && (uint32_t)index < list->count) complete(event, list->all[index], sum);
  } else if (dft__mpi_has(args, 'y')) {
    int32_t count = *(const int *)dft__mpi_pointer(args, 'y');
    const int *indices = dft__mpi_pointer(args, 'x');
    for (int32_t i = 0; i < count; i++) {
      if (indices[i] >= 0 && (uint32_t)indices[i] < list->count) complete(event, list->all[indices[i]], sum);
    }
  } else {
    for (uint32_t i = 0; i < list->count; i++) complete(event, list->all[i], sum);
  }
}

/* After one that failed: those are complete whose handles are gone. */
static void complete_replaced(const dft__mpi_event *event, const dft__mpi_waits *list, wait_sum *sum) {
  const void *handles = dft__mpi_pointer(&event->args, 'Q');
  for (uint32_t i = 0; i < list->count; i++) {
    if (dft__mpi_handle_in(handles, i) == dft__mpi.family.request_null) complete(event, list->all[i], sum);
  }
}

void dft__mpi_waits_end(const dft__mpi_event *event, const dft__mpi_waits *list, int has_succeeded) {
  wait_sum sum = {0};
  dft__mpi_put(event, DFT__MPI_KEY_REQUESTS, list->count);
  if (list->is_lost) return;
  if (has_succeeded) complete_all(event, list, &sum);
  else complete_replaced(event, list, &sum);
  dft__mpi_put(event, DFT__MPI_KEY_COMPLETED, sum.completed);
  dft__mpi_put(event, DFT__MPI_KEY_BYTES, sum.bytes);
  if (sum.unmatched) dft__mpi_put(event, DFT__MPI_KEY_UNMATCHED, sum.unmatched);
}

void dft__mpi_waits_start(const dft__mpi_event *event, const dft__mpi_waits *list) {
  int64_t all = 0;
  uint32_t unmatched = 0;
  dft__mpi_put(event, DFT__MPI_KEY_REQUESTS, list->count);
  if (list->is_lost) return;
  for (uint32_t i = 0; i < list->count; i++) {
    int64_t bytes = dft__request_start(list->all[i], event->region);
    if (bytes < 0) unmatched++;
    else all += bytes;
  }
  dft__mpi_put(event, DFT__MPI_KEY_BYTES, all);
  if (unmatched) dft__mpi_put(event, DFT__MPI_KEY_UNMATCHED, unmatched);
}
