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

/* Where spools are: FOLDER/.dftracer/NAME.spool, for traces in FOLDER. That file, the claim, is the spool itself or a small
 * text file that points to a spool elsewhere. Where .dftracer is another user's, the folder is .dftracer-UID. */
#define DFT_SPOOL_FOLDER ".dftracer"
#define DFT_SPOOL_SUFFIX ".spool"

/* Whether a folder of this name contains spools, of any user. */
DFT_API int dft_spool_is_folder(const char *name);

/* Whether a file that begins with these bytes is a spool, of any version, or a pointer to one. */
DFT_API int dft_spool_is(const void *bytes, size_t len);
/* The path of the claim's spool: the claim itself, or where it points. Zero when the claim cannot be read. The spool may be
 * gone, and a claim that another user wrote may point anywhere. */
DFT_API int dft_spool_find(const char *claim, char *path, size_t size);

/* Whether the process of the claim is alive: 1, or 0 when it is proved to be dead. -1: nobody here can tell, because it is of
 * another node or container, or this is not a spool of this version. */
DFT_API int dft_spool_is_alive(const char *claim);

typedef struct dft_snapshot dft_snapshot;

typedef struct dft_snapshot_facts {
  size_t struct_size;    /* sizeof(dft_snapshot_facts), set by the caller */
  uint32_t is_alive;     /* the process runs, or may do so: there is no `end` among the events */
  uint32_t is_complete;  /* everything is in the live file */
  uint64_t unit_ns;      /* of the events' times */
  uint64_t live_bytes;   /* of the live file; 0: there is none */
  const char *live_path; /* valid until dft_snapshot_close */
  const char *host_hash;
  uint32_t live_is_lines; /* the live file is a trace of JSON lines, plain or compressed: read it directly */
  /* since 5.1 */
  uint32_t is_unknown; /* nobody here can tell whether the process is alive */
} dft_snapshot_facts;

/* Takes a snapshot of `.dftracer/NAME.spool`, the spool itself or the pointer to it. DFT_EFORMAT: it is not a spool of
 * this version. */
DFT_API dft_status dft_snapshot_open(const char *path, dft_snapshot **snapshot);
DFT_API void dft_snapshot_tell(const dft_snapshot *snapshot, dft_snapshot_facts *facts);
/* Makes the snapshot begin with the events of the live file. The sink that wrote the file reads it. DFT_ENOSINK: that sink
 * cannot read. A sink in a shared object is loaded only if DFTRACER_SINK names that object in this process too: reading a
 * trace must not run code that the trace names. DFT_EFORMAT: the file is damaged, or the process has changed it since; then
 * take another snapshot. */
DFT_API dft_status dft_snapshot_read_live(dft_snapshot *snapshot);
/* Returns 1 and the next event; 0 at the end; -1 where the live file is damaged: the next call continues with the spool.
 * Regions that are open come last, with open:1; those of a process that is alive last until the snapshot. event_size is
 * sizeof(dft_event). */
DFT_API int dft_snapshot_next(dft_snapshot *snapshot, dft_event *event, size_t event_size);
DFT_API void dft_snapshot_close(dft_snapshot *snapshot);

/* ---- Spools whose process may be alive, and spools that are gone ---- */

typedef struct dft_lost_spools {
  size_t struct_size; /* sizeof(dft_lost_spools), set by the caller */
  uint32_t published; /* traces made of what had been written, because the spool is gone */
  uint32_t settled;   /* claims that dft_recover had counted as foreign */
  uint32_t waiting;   /* claims left alone: nobody here can tell whether their process is alive */
  uint32_t failed;    /* outputs that could not be published; they are still there */
  uint64_t events;    /* in the published traces */
  /* since 5.1 */
  uint32_t taken; /* whole traces, of processes that may be alive */
  /* Set by the caller, or NULL: called for each of those claims, before it is published or left alone. */
  void (*tell)(const char *claim, uint32_t pid, const char *host, void *context);
  void *context;
} dft_lost_spools;

/* Call it after dft_recover. Handles the claims in this folder whose spool is gone, because it was in the memory of its
 * node. What their sinks had written becomes a trace, whose `end` event has spool_lost. If is_lost is nonzero, processes that
 * are not known to be alive count as dead: those of other nodes, boots and containers. Their traces are published, with their
 * spool or without. Claims and outputs of other users are left alone. If it is killed, call it again. */
DFT_API dft_status dft_recover_lost(const char *folder, int is_lost, dft_lost_spools *report);

#ifdef __cplusplus
}
#endif
#endif
