/* mpievent.c - the event of one MPI call: its communicator and its peers.
 * SPDX-License-Identifier: MIT */
#include "mpievent.h"

#include <string.h>

dft_key dft__mpi_keys[] = {
  [DFT__MPI_KEY_BYTES] = DFT_KEY("bytes"),
  [DFT__MPI_KEY_PEER] = DFT_KEY("peer"),
  [DFT__MPI_KEY_SOURCE] = DFT_KEY("source"),
  [DFT__MPI_KEY_ROOT] = DFT_KEY("root"),
  [DFT__MPI_KEY_TAG] = DFT_KEY("tag"),
  [DFT__MPI_KEY_SOURCE_TAG] = DFT_KEY("source_tag"),
  [DFT__MPI_KEY_COMM] = DFT_KEY("comm"),
  [DFT__MPI_KEY_COMM_SIZE] = DFT_KEY("comm_size"),
  [DFT__MPI_KEY_REMOTE_SIZE] = DFT_KEY("remote_size"),
  [DFT__MPI_KEY_REQUESTS] = DFT_KEY("requests"),
  [DFT__MPI_KEY_COMPLETED] = DFT_KEY("completed"),
  [DFT__MPI_KEY_UNMATCHED] = DFT_KEY("unmatched"),
  [DFT__MPI_KEY_RANK] = DFT_KEY("rank"),
  [DFT__MPI_KEY_SIZE] = DFT_KEY("size"),
  [DFT__MPI_KEY_NODE] = DFT_KEY("node"),
  [DFT__MPI_KEY_FHASH] = DFT_KEY("fhash"),
  [DFT__MPI_KEY_OFFSET] = DFT_KEY("offset"),
  [DFT__MPI_KEY_COLLECTIVE] = DFT_KEY("collective"),
  [DFT__MPI_KEY_ERROR] = DFT_KEY("error"),
  [DFT__MPI_KEY_FIRST_START] = DFT_KEY("start_1"),
  DFT_KEY("start_2"),
  DFT_KEY("start_3"),
  DFT_KEY("start_4"),
  DFT_KEY("start_5"),
  DFT_KEY("start_6"),
  DFT_KEY("start_7"),
  DFT_KEY("start_8"),
};

static void put_rank(const dft__mpi_event *event, unsigned key, int32_t rank) {
  int32_t world = dft__comm_world_rank(event->comm, rank);
  if (world >= 0) dft__mpi_put(event, key, world);
}

/* What only the status tells after MPI_ANY_SOURCE and MPI_ANY_TAG; `fallback` if it is ignored. */
static int32_t from_status(const dft__mpi_args *args, uint32_t field, int32_t fallback) {
  const char *status;
  int32_t value;
  if (!dft__mpi_has(args, 'z') || dft__mpi_word(args, 'z') == dft__mpi.family.status_ignore) return fallback;
  if (dft__mpi_has(args, 'f') && !*(const int *)dft__mpi_pointer(args, 'f')) return fallback;
  status = dft__mpi_pointer(args, 'z');
  memcpy(&value, status + dft__mpi.family.status_source + field * sizeof value, sizeof value);
  return value;
}

/* The peer, the root and the tag as they were passed; wildcards are left for later. */
static void place(const dft__mpi_event *event) {
  const dft__mpi_args *args = &event->args;
  if (dft__mpi_has(args, 'p')) put_rank(event, DFT__MPI_KEY_PEER, dft__mpi_int(args, 'p'));
  if (dft__mpi_has(args, 'P')) put_rank(event, DFT__MPI_KEY_SOURCE, dft__mpi_int(args, 'P'));
  if (dft__mpi_has(args, 'r')) {
    int32_t root = dft__mpi_int(args, 'r');
    if (!event->comm->is_inter || root >= 0) put_rank(event, DFT__MPI_KEY_ROOT, root);
  }
  if (dft__mpi_has(args, 'g') && dft__mpi_int(args, 'g') >= 0)
    dft__mpi_put(event, DFT__MPI_KEY_TAG, dft__mpi_int(args, 'g'));
  if (dft__mpi_has(args, 'G') && dft__mpi_int(args, 'G') >= 0)
    dft__mpi_put(event, DFT__MPI_KEY_SOURCE_TAG, dft__mpi_int(args, 'G'));
  dft__mpi_put(event, DFT__MPI_KEY_COMM, event->comm->id);
  dft__mpi_put(event, DFT__MPI_KEY_COMM_SIZE, event->comm->size);
  if (event->comm->is_inter) dft__mpi_put(event, DFT__MPI_KEY_REMOTE_SIZE, event->comm->peers);
}

/* What MPI_ANY_SOURCE and MPI_ANY_TAG stood for. */
static void place_matched(const dft__mpi_event *event) {
  const dft__mpi_args *args = &event->args;
  if (!dft__mpi_has(args, 'g') || !dft__mpi_has(args, 'p')) return;
  if (dft__mpi_int(args, 'p') == dft__mpi.family.any_source)
    put_rank(event, DFT__MPI_KEY_PEER, from_status(args, 0, -1));
  if (dft__mpi_int(args, 'g') == dft__mpi.family.any_tag) {
    int32_t tag = from_status(args, 1, -1);
    if (tag >= 0) dft__mpi_put(event, DFT__MPI_KEY_TAG, tag);
  }
}

/* Also of one that the call is about to free. */
static dft__comm *known_comm(const dft__mpi_args *args) {
  if (args->row->flow == DFT__MPI_COMM_FREE) return dft__comm_find(dft__mpi_made(args, 'o'));
  if (args->row->flow == DFT__MPI_WINDOW_FREE) return dft__window_comm(dft__mpi_made(args, 'D'));
  if (dft__mpi_has(args, 'c')) return dft__comm_find(dft__mpi_handle(dft__mpi_word(args, 'c')));
  if (dft__mpi_has(args, 'd')) return dft__window_comm(dft__mpi_handle(dft__mpi_word(args, 'd')));
  return NULL;
}

void dft__mpi_event_begin(dft__mpi_event *event) {
  event->comm = known_comm(&event->args);
  event->region = dft_region_begin((dft_site *)&event->args.row->site);
  if (event->comm) place(event);
}

void dft__mpi_event_place(dft__mpi_event *event) {
  const dft__mpi_args *args = &event->args;
  if (!event->comm && dft__mpi_has(args, 'c')) {
    event->comm = dft__comm_get(dft__mpi_handle(dft__mpi_word(args, 'c')));
    if (event->comm) place(event);
  }
  if (event->comm) place_matched(event);
}
