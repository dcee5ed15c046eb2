/* outfile.h - a file that a command writes: text, compressed if the name ends in .gz. It appears complete or not at all.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_OUTFILE_H
#define DFTRACER_OUTFILE_H

#include <dftracer/sink.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>

typedef struct outfile {
  char path[PATH_MAX]; /* empty: stdout, a pipe or a device */
  char part[PATH_MAX]; /* its name until it is complete */
  int fd;
  int error; /* the first errno; after it nothing more is written */
  int is_gzip;
  char *text; /* not yet written */
  size_t len, room;
  char *packed;
  void *state;
  uint64_t bytes; /* written so far */
} outfile;

/* Why no file can be created there: an errno, or 0. For files that HDF5 writes, because HDF5 gives no reason. */
int outfile_refused(const char *path);

/* NULL or "-" is stdout. Returns 0 or an errno. */
int outfile_open(outfile *out, const char *path);

/* Writes to this descriptor, which outfile_close closes. -1: nothing is written, and `text` keeps all of it. Returns 0 or an
 * errno. */
int outfile_adopt(outfile *out, int fd);

/* Returns room for `len` more bytes of text; NULL: no memory. Write there, then call outfile_advance with the number. */
char *outfile_room(outfile *out, size_t len);
void outfile_advance(outfile *out, size_t len);
void outfile_put(outfile *out, const char *text, size_t len);
void outfile_text(outfile *out, const char *text);
/* Writes JSON, with what a terminal obeys escaped; it is the same text in JSON. */
void outfile_json(outfile *out, const char *text, size_t len);
/* Escapes the text for a JSON string, and what a terminal obeys. */
void outfile_escaped(outfile *out, const char *text, size_t len);
/* The text as a JSON string, with its quotes. */
void outfile_quoted(outfile *out, dft_text text);
void outfile_int(outfile *out, int64_t number);
/* Writes nanoseconds as microseconds, with decimals only where needed. */
void outfile_us(outfile *out, int64_t ns);

/* Completes the file, or removes it. Returns 0 or an errno. */
int outfile_close(outfile *out, int is_complete);

/* Reports that a command cannot write its output; silent when the reader of a pipe has left, as with "| head". */
void outfile_complain(const char *command, const char *path, int error);

#endif
