/* h5.h - writes HDF5 tables from any events, as `dftracer convert` does, and reads what a process with the sink hdf5
 * has not published yet. For tools. Programs that record events set DFTRACER_SINK=hdf5 instead.
 *
 * Events are collected as columns in a hidden file beside the output, in bounded memory. Closing turns that file into
 * the HDF5 file and then gives it its name, so the output is either complete or absent. sinks/FORMAT.md describes it.
 *
 *   dft_h5 *writer;
 *   dft_h5_options options = {.struct_size = sizeof options};
 *   if (dft_h5_open("job.h5", &options, &writer) == DFT_OK) {
 *     dft_h5_process(writer, 0, &facts);
 *     dft_h5_add(writer, 0, &event);
 *     status = dft_h5_close(writer, 1, why, sizeof why);
 *   }
 *
 * Threads   Only one thread at a time may use a writer or reader.
 * Errors    A call that has a parameter `why` writes a message there when it fails.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_H5_H
#define DFTRACER_H5_H

#include <dftracer/sink.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dft_h5 dft_h5;

typedef struct dft_h5_options {
  size_t struct_size;
  int32_t is_table; /* nonzero: layout=table */
  int32_t level;    /* of compression, 1 to 9; 0: the default */
} dft_h5_options;

/* A process as /processes describes it. Strings may be NULL. */
typedef struct dft_h5_facts {
  size_t struct_size;
  uint32_t pid;
  int32_t rank; /* -1: unknown */
  const char *host;
  const char *host_hash;
  const char *source; /* the file its events came from */
  const char *unit;   /* of times: US, NS, MS, SEC */
} dft_h5_facts;

/* NULL if this machine can write HDF5 files, otherwise the reason why not. */
DFT_API const char *dft_h5_unusable(void);

/* Opens a writer. Its file may hold many processes. DFT_ENOSINK: HDF5 files cannot be written here. DFT_EIO: the folder
 * is not writable. */
DFT_API dft_status dft_h5_open(const char *path, const dft_h5_options *options, dft_h5 **writer);

/* Sets a row of /processes. Rows count from 0, and events refer to them. A row may be set again until the end. */
DFT_API dft_status dft_h5_process(dft_h5 *writer, uint32_t row, const dft_h5_facts *facts);

/* Copies the event. dft_h5_close reports failures. */
DFT_API void dft_h5_add(dft_h5 *writer, uint32_t process, const dft_event *event);

/* Nonzero `complete`: writes the file, replacing one of that name. Zero: discards everything. */
DFT_API dft_status dft_h5_close(dft_h5 *writer, int complete, char *why, size_t size);

/* Writes a file that shows many files, each of one process and in the layout `columns`, as one. It uses virtual
 * datasets: nothing is copied, and the files must stay where they are. */
DFT_API dft_status dft_h5_virtual(const char *path, const char *const *files, size_t count, char *why, size_t size);

/* Copies the events of many files, each of one process and in the layout `columns`, into a new file, with their ranks.
 * Memory does not grow with the events. Meanwhile there is a copy of the largest input beside the new file. */
DFT_API dft_status dft_h5_merge(const char *path, const dft_h5_options *options, const char *const *files, size_t count,
                                uint64_t *events, char *why, size_t size);

/* ---- Reading what is not published yet: the events that precede those of a snapshot (spool.h) ---- */

typedef struct dft_h5_segments dft_h5_segments;

/* Opens the segments of a live file whose name ends with "-hdf5". The path comes from the facts of the snapshot. */
DFT_API dft_status dft_h5_segments_open(const char *live_path, dft_h5_segments **segments);
/* Finds the rows, up to the length that the facts give. DFT_EFORMAT: the files are damaged, or the process is still
 * running and has changed them; take another snapshot and call this again. Call dft_h5_segments_next only after
 * DFT_OK. */
DFT_API dft_status dft_h5_segments_read(dft_h5_segments *segments, uint64_t live_bytes);
/* Returns 1 and the next event, which is valid until the next call; 0 at the end; -1 where the segments are damaged.
 * event_size is sizeof(dft_event). */
DFT_API int dft_h5_segments_next(dft_h5_segments *segments, dft_event *event, size_t event_size);
DFT_API void dft_h5_segments_close(dft_h5_segments *segments);

/* ---- A trace whose spool is gone, for example after its node was restarted ---- */

typedef struct dft_h5_salvaged {
  size_t struct_size;
  uint64_t events;       /* of the program */
  uint32_t pid;          /* 0: unknown */
  uint32_t is_annotated; /* it has other events than I/O calls */
} dft_h5_salvaged;

/* Turns the segments into an HDF5 file at live_path, with an `end` event that reports the loss. If they hold no events
 * of the program, removes everything. If the process dies meanwhile, call it again: if the file exists already, the
 * facts are 0. */
DFT_API dft_status dft_h5_salvage(const char *live_path, dft_h5_salvaged *facts, char *why, size_t size);

#ifdef __cplusplus
}
#endif
#endif
