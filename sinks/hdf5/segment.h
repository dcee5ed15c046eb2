/* segment.h - the hidden files in which an HDF5 trace grows: complete pieces of columns, one behind the other.
 *
 * An HDF5 file that is being written does not survive the death of its writer. So a trace grows as a row of records that
 * are only ever appended, and committed like the members of JSON lines; when it is complete, or recovered, its chunks are
 * copied as they are into a new HDF5 file (join.h).
 *
 *   | HEAD | NAMES | CHUNK ts 0 | CHUNK dur 0 | ... | TAIL events | TAIL args | PROCESS | NAMES | CHUNK ts 1 | ... |
 *   '----- NAME.0-hdf5-0001, a segment: complete -----'----- NAME.0-hdf5-0002 -----'----- NAME.0-hdf5, grows -------'
 *
 * The row lies in one file until that is large enough. Then, before the commit gives the spool's space back, it is closed and
 * renamed to the next number, never to be written again, and an empty one takes its place. Lengths and offsets count
 * through the whole row. A death between the renaming and the commit leaves a segment that is longer than what is
 * committed: the next opening takes its number away again.
 *
 * CHUNK  DFT__H5_ROWS values of a column, shuffled and deflated: the very bytes of a chunk of the HDF5 file
 * TAIL   rows that do not fill a chunk yet, by column, as differences; worthless once their chunk is written, when the
 *        storage is given back (a hole: the first byte, DFT__H5_TAIL_MARK, is zero then)
 * SAVED  the end of an append: what comes before it is whole
 * NAMES  texts of /names in the order of their rows: length (4), bytes; again and again
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_H5_SEGMENT_H
#define DFTRACER_H5_SEGMENT_H

#include <dftracer/dft.h>

#include "schema.h"

#define DFT__H5_MAGIC 0x35485444u /* "DTH5" */
#define DFT__H5_TAIL_MARK 1u
#define DFT__H5_SEGMENT_BYTES ((uint64_t)64 << 20)

enum dft__h5_kind { DFT__H5_HEAD = 1, DFT__H5_NAMES, DFT__H5_CHUNK, DFT__H5_TAIL, DFT__H5_PROCESS, DFT__H5_SAVED };

/* Before every record's bytes. */
typedef struct dft__h5_record {
  uint32_t magic;
  uint32_t kind;
  uint32_t what;  /* CHUNK: column; TAIL: table; PROCESS: its row */
  uint32_t count; /* rows, or names */
  uint64_t first; /* number of the first of them */
  uint64_t bytes; /* that follow */
} dft__h5_record;

/* HEAD: what was asked for. */
typedef struct dft__h5_head {
  uint32_t schema;
  uint32_t is_job;
  uint32_t is_table; /* layout=table */
  int32_t level;
} dft__h5_head;

/* PROCESS: what is known of a process; the last one of a row counts. */
typedef struct dft__h5_process {
  uint32_t pid;
  int32_t rank; /* -1: unknown */
  char unit[8]; /* of times: US, NS, MS, SEC */
  char host_hash[24];
  char host[80];
  char source[256]; /* the file it was converted from; empty: recorded */
} dft__h5_process;

/* ---- Writing: records gather in memory and go to the file in large pieces ---- */

typedef struct dft__h5_segment {
  char *path;
  uint64_t length; /* of the row, with what is gathered */
  uint64_t start;  /* of the file that grows */
  uint32_t number; /* of complete segments before it */
  uint8_t *memory;
  size_t used;
  size_t room;
  dft_status status; /* of the last write that failed */
} dft__h5_segment;

/* Makes the file that grows, or cuts what a dead process left to `length`. */
dft_status dft__h5_segment_begin(const char *path, uint64_t length);
/* A writer behind so much of what is there. Zero without memory. */
int dft__h5_segment_open(dft__h5_segment *segment, const char *path, uint64_t length);
void dft__h5_segment_close(dft__h5_segment *segment);
/* Everything is written: completes the file when it has at least so many bytes. *is_new: another one grows now. */
dft_status dft__h5_segment_roll(dft__h5_segment *segment, uint64_t most, int *is_new);
/* Of what is there, committed or not. */
uint64_t dft__h5_segment_length(const char *path);
/* Removes the complete segments; the file that grows stays. */
void dft__h5_segment_remove(const char *path);
/* The name of a complete segment, counted from 1. Zero when it is too long. */
int dft__h5_segment_name(char *name, size_t size, const char *path, uint32_t number);

/* Room for a record of up to so many bytes; its bytes go behind the returned place. NULL: no memory. */
uint8_t *dft__h5_segment_reserve(dft__h5_segment *segment, size_t bytes);
/* Finishes it. Returns where its bytes begin in the file. */
uint64_t dft__h5_segment_put(dft__h5_segment *segment, const dft__h5_record *record);
/* Writes what is gathered, when it is at least so much. */
dft_status dft__h5_segment_flush(dft__h5_segment *segment, size_t least);
/* Gives back the storage of bytes that nobody needs any more, where the file system can. */
void dft__h5_segment_punch(const dft__h5_segment *segment, uint64_t offset, uint64_t bytes);

/* ---- Reading ---- */

typedef struct dft__h5_walk {
  const char *path;     /* the caller's */
  struct dft__h5_file { /* they stay open: their process may remove them meanwhile */
    int fd;
    uint64_t start, end;
  } * files;
  uint32_t count;
  uint32_t in_hand;
  int is_last_open;
  uint64_t length; /* records beyond it do not count */
  uint64_t next;
  uint64_t offset; /* of the bytes of the record in hand */
  dft__h5_record record;
} dft__h5_walk;

/* Zero when the files cannot be opened, or are shorter; then errno says why, and there is nothing to close. */
int dft__h5_walk_open(dft__h5_walk *walk, const char *path, uint64_t length);
/* The next record: 1; 0 at the end; -1 when what comes is none. */
int dft__h5_walk_next(dft__h5_walk *walk);
/* The bytes of the record in hand; zero when they cannot be read. `size` is the room. */
int dft__h5_walk_read(dft__h5_walk *walk, void *into, size_t size);
void dft__h5_walk_close(dft__h5_walk *walk);

#endif
