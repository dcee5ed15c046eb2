/* h5.h - writing HDF5 tables from events of anywhere: what `dftracer convert` uses; and reading what a process with the sink
 * hdf5 has not published yet. For tools; programs that record events set DFTRACER_SINK=hdf5 instead.
 *
 * The way of the data: events gather as columns in a hidden file beside the output, in bounded memory; closing makes the
 * HDF5 file of them and gives it its name, so the file is complete or absent. sinks/FORMAT.md says what is in it.
 *
 *   dft_h5 *writer;
 *   dft_h5_options options = {.struct_size = sizeof options};
 *   if (dft_h5_open("job.h5", &options, &writer) == DFT_OK) {
 *     dft_h5_process(writer, 0, &facts);
 *     dft_h5_add(writer, 0, &event);
 *     status = dft_h5_close(writer, 1, why, sizeof why);
 *   }
 *
 * Threads   One writer or reader is used by one thread at a time.
 * Errors    A message for people is in `why` when a call with one fails.
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
  int32_t level;    /* of compression, 1 to 9; 0: the usual */
} dft_h5_options;

/* What /processes shall say of one. Texts may be NULL. */
typedef struct dft_h5_facts {
  size_t struct_size;
  uint32_t pid;
  int32_t rank; /* -1: unknown */
  const char *host;
  const char *host_hash;
  const char *source; /* the file its events came from */
  const char *unit;   /* of times: US, NS, MS, SEC */
} dft_h5_facts;

/* NULL when HDF5 files can be made here, else why not. */
DFT_API const char *dft_h5_unusable(void);

/* A writer of a file that may hold many processes. DFT_ENOSINK when this cannot be done here, DFT_EIO when the folder cannot
 * be written to. */
DFT_API dft_status dft_h5_open(const char *path, const dft_h5_options *options, dft_h5 **writer);

/* A row of /processes, from 0 on; events refer to it. What was said of a row may be said anew until the end. */
DFT_API dft_status dft_h5_process(dft_h5 *writer, uint32_t row, const dft_h5_facts *facts);

/* Takes a copy of the event. Failures are told by dft_h5_close. */
DFT_API void dft_h5_add(dft_h5 *writer, uint32_t process, const dft_event *event);

/* Nonzero `complete` makes the file, replacing one of that name; else everything is given up. */
DFT_API dft_status dft_h5_close(dft_h5 *writer, int complete, char *why, size_t size);

/* A file that shows many files of one process each, in the layout `columns`, as one, by virtual data sets: nothing is
 * copied, the files must stay where they are. */
DFT_API dft_status dft_h5_virtual(const char *path, const char *const *files, size_t count, char *why, size_t size);

/* The events of many files of one process each, in the layout `columns`, in a new file, with their ranks. Memory does not grow
 * with them; the largest lies beside the new file once more meanwhile. */
DFT_API dft_status dft_h5_merge(const char *path, const dft_h5_options *options, const char *const *files, size_t count,
                                uint64_t *events, char *why, size_t size);

/* ---- Reading what is not published: the events before those of a snapshot (spool.h) ---- */

typedef struct dft_h5_segments dft_h5_segments;

/* The segments of a live file whose name ends with "-hdf5"; the path is that of the snapshot's facts. */
DFT_API dft_status dft_h5_segments_open(const char *live_path, dft_h5_segments **segments);
/* Finds the rows, up to the length that the facts name. DFT_EFORMAT when the files are damaged, or when a process that goes on
 * writing has changed them since: take another snapshot, and call this again. Nothing else before it was DFT_OK. */
DFT_API dft_status dft_h5_segments_read(dft_h5_segments *segments, uint64_t live_bytes);
/* The next event, valid until the next call: 1; 0 at the end, -1 where they are damaged. event_size is
 * sizeof(dft_event). */
DFT_API int dft_h5_segments_next(dft_h5_segments *segments, dft_event *event, size_t event_size);
DFT_API void dft_h5_segments_close(dft_h5_segments *segments);

/* ---- A trace whose spool is gone, with the memory of its node ---- */

typedef struct dft_h5_salvaged {
  size_t struct_size;
  uint64_t events;       /* of the program */
  uint32_t pid;          /* 0: unknown, see below */
  uint32_t is_annotated; /* there are others than I/O calls */
} dft_h5_salvaged;

/* What its segments hold becomes an HDF5 file in their place, at live_path, with an `end` that tells of the loss; without
 * events of the program everything is removed. May be called again after a death: when the file is there already, the
 * facts are zero. */
DFT_API dft_status dft_h5_salvage(const char *live_path, dft_h5_salvaged *facts, char *why, size_t size);

#ifdef __cplusplus
}
#endif
#endif
