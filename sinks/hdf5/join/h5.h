/* h5.h - what the parts of h5join share: one file on its way, small things in HDF5, and failing with a message.
 *
 * h5join is short-lived and alone in its process: it ends where something fails, with one line on stdout that the library
 * passes on. Exit status: 0 done, 1 failed, 2 wrong use, 3 no space.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_H5_JOIN_H5_H
#define DFTRACER_H5_JOIN_H5_H

#include <hdf5.h>
#include <limits.h>

#include "../tables.h"

/* A segment file, and the HDF5 file it becomes. */
typedef struct job {
  const char *from;
  const char *to;
  const char *layout; /* columns, table, virtual */
  dft__h5_walk walk;
  dft__h5_head head;
  dft__h5_tables tables; /* how many rows there are, and those of the last chunk */
  uint64_t name_count;
  size_t name_width; /* of the longest */
  uint32_t process_count;
  dft__h5_process *processes;
  hid_t file;
} job;

/* Ends the program. `format` and what follows it make the message. */
__attribute__((noreturn, format(printf, 1, 2))) void fail(const char *format, ...);
/* Ends it when an HDF5 call gave a negative result; the message is HDF5's own. */
int64_t need(int64_t result, const char *what);
void *need_memory(void *memory);
/* What is then removed: the file that is being made. */
void remove_on_failure(const char *path);

hid_t type_in_file(uint32_t type); /* little-endian, on every machine */
hid_t type_in_memory(uint32_t type);
hid_t text_type(size_t width);

/* Attributes. */
void describe_text(hid_t object, const char *name, const char *text);
void describe_number(hid_t object, const char *name, int64_t number);

void describe_table(hid_t group, uint32_t table, uint64_t rows); /* once, however many columns it has */

/* A data set of one dimension, chunked, shuffled and deflated; it can be made longer. */
hid_t make_column(hid_t place, const char *name, hid_t type, uint64_t rows, uint64_t chunk_rows, int level);
hid_t make_group(hid_t file, const char *name);

/* The parts of a file. */
void write_columns(job *own);   /* layout=columns: the chunks as they are */
void write_tables(job *own);    /* layout=table: compound rows, as H5TB and PyTables want them */
void write_names(job *own);     /* /names */
void write_processes(job *own); /* /processes */
void write_facts(job *own);     /* attributes of the file */

/* The values of a chunk. */
void unpack_chunk(const job *own, const uint8_t *packed, size_t len, size_t size, void *values);
/* The column `rank` follows from the column `process`: replaces the numbers of processes, DFT__H5_ROWS of them. */
void fill_ranks(const job *own, void *values);

/* Zeros at the end of a name would pass for those that fill the row: such a name gets an ETX (end of text) behind it in the
 * file, and so does a name that ends with one. With it, so many bytes. */
#define NAME_END '\3'
size_t name_bytes(const uint8_t *name, uint32_t len);

/* Names in the order of their rows; at most `most` from row `first` on, each in `width` bytes with zeros behind it. */
void read_names(job *own, uint64_t first, uint64_t most, size_t width, char *into);

/* A file of one process, to be put together with others. */
typedef struct part {
  const char *path;
  char shown[PATH_MAX + 1]; /* as a file in the folder `folder` refers to it: beside it, or absolute */
  uint64_t rows[DFT__H5_TABLES];
  uint64_t names;
  size_t name_width;
  dft__h5_process process;
} part;
void look_at(part *own, const char *folder);
void path_of(char *path, size_t size, uint32_t column); /* of its data set */

/* The way back from such a file to a segment file. */
void split(const char *path, const char *to);

/* Many files of one process each as one, without copying: out, file... */
void write_virtual(const char *to, char *const *files, int count);

#endif
