/* outfile.h - a file that a command writes: text in, compressed by its name, there completely or not at all.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_OUTFILE_H
#define DFTRACER_OUTFILE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

typedef struct outfile {
  char path[PATH_MAX]; /* empty: stdout, or no regular file */
  char part[PATH_MAX]; /* what it is called until it is complete */
  int fd;
  int error; /* the first one: an errno; then nothing more is written */
  int is_gzip;
  char *text; /* OUTFILE_PIECE, and what one put may add */
  size_t len, room;
  char *packed;
  void *state;
  uint64_t bytes; /* written so far */
} outfile;

/* Why no file can be made there: an errno, or 0. For what HDF5 writes, which tells no reason. */
int outfile_refused(const char *path);

/* NULL or "-" is stdout. A name that ends in .gz is compressed. Nonzero: an errno. */
int outfile_open(outfile *of, const char *path);

/* Room for `len` more bytes of text; write there, then tell how many with outfile_advance. NULL: no memory. */
char *outfile_room(outfile *of, size_t len);
void outfile_advance(outfile *of, size_t len);
void outfile_put(outfile *of, const char *text, size_t len);
void outfile_text(outfile *of, const char *text);
/* Inside a JSON string. */
void outfile_escaped(outfile *of, const char *text, size_t len);
void outfile_int(outfile *of, int64_t number);
/* A time or duration of nanoseconds as microseconds, with as many decimals as needed. */
void outfile_us(outfile *of, int64_t ns);

/* Completes the file, or takes it away. Nonzero: an errno. */
int outfile_close(outfile *of, int is_complete);

/* Says that a command's output failed; not when its reader left, as of "| head". */
void outfile_complain(const char *command, const char *path, int error);

#endif
