/* spool.h - reads the events that a process, running or dead, has recorded but not written yet.
 *
 * For readers of traces; programs that record events need only dft.h. A snapshot copies the spool and changes neither
 * it nor the process. What the process has already written is in the live file that the facts name, up to the length
 * that they give; the snapshot continues from there. It shows one moment of a running process: events that are being
 * recorded at that moment may be missing.
 *
 * Threads   Only one thread at a time may use a snapshot.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SPOOL_H
#define DFTRACER_SPOOL_H

#include <dftracer/sink.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dft_snapshot dft_snapshot;

typedef struct dft_snapshot_facts {
  size_t struct_size;    /* sizeof(dft_snapshot_facts), set by the caller */
  uint32_t is_alive;     /* the process runs: there is no `end` among the events */
  uint32_t is_complete;  /* everything is in the live file */
  uint64_t unit_ns;      /* of the events' times */
  uint64_t live_bytes;   /* of the live file; 0: there is none */
  const char *live_path; /* valid until dft_snapshot_close */
  const char *host_hash;
} dft_snapshot_facts;

/* Takes a snapshot of `.dftracer/NAME.spool`, the spool itself or the pointer to it. DFT_EFORMAT when it is no spool of
 * this version. */
DFT_API dft_status dft_snapshot_open(const char *path, dft_snapshot **snapshot);
DFT_API void dft_snapshot_tell(const dft_snapshot *snapshot, dft_snapshot_facts *facts);
/* The next event; 0 at the end. Regions that are open come last, with open:1. event_size is sizeof(dft_event). */
DFT_API int dft_snapshot_next(dft_snapshot *snapshot, dft_event *event, size_t event_size);
DFT_API void dft_snapshot_close(dft_snapshot *snapshot);

#ifdef __cplusplus
}
#endif
#endif
