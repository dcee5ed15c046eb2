/* request.h - requests that are under way: which event started them, and with how many bytes.
 *
 * A library may give the same handle to several requests, if they were complete at once. Each thread then gets those
 * that it began itself, in their order.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_REQUEST_H
#define DFT_REQUEST_H

#include <stdint.h>

typedef struct dft__request {
  uint64_t id; /* of the event that started it; 0: nothing was recorded */
  int64_t bytes;
} dft__request;

/* Keeps a request. If there is no room, it will not be found. */
void dft__request_begin(uint64_t handle, uint64_t id, int64_t bytes);
void dft__request_prepare(uint64_t handle, int64_t bytes);
/* MPI_Start: returns its bytes, or -1 if it is not known. */
int64_t dft__request_start(uint64_t handle, uint64_t id);
/* It is complete, or persistent and not started: then there is nothing to complete. */
enum dft__request_state { DFT__REQUEST_UNKNOWN, DFT__REQUEST_COMPLETE, DFT__REQUEST_IDLE };
enum dft__request_state dft__request_take(uint64_t handle, dft__request *request);
/* MPI_Request_free. */
void dft__request_drop(uint64_t handle);
/* For a new trace: these were made in another one, and nobody has seen what was completed or freed since. */
void dft__request_forget_all(void);

#endif
