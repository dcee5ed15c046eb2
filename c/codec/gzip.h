/* gzip.h - text as one gzip member, or bytes as one zlib stream. The build takes exactly one of gzip_zlib.c, gzip_isal.c,
 * gzip_libdeflate.c.
 *
 * Every call makes a complete member (RFC 1952). It depends only on text, level and library, not on time, file name or
 * earlier calls. All memory is the caller's `state`, whose previous content does not matter, so calls are re-entrant.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SINK_GZIP_H
#define DFTRACER_SINK_GZIP_H

#include <stddef.h>

/* Enough for the state of any of the implementations. */
#define DFT__GZIP_STATE_MOST ((size_t)2 << 20)

/* Loads the library behind it, where that is left until it is worth its time: what is short, or made before, or where it is
 * not found, deflate.c makes. Never in a signal handler. */
void dft__gzip_load(void);
/* The same by a thread of its own, for which nobody waits: in a program of others somebody may hold the dynamic linker's lock who
 * waits for the caller. */
void dft__gzip_load_aside(void);

/* The library behind it, for people. */
const char *dft__gzip_name(void);

/* The compression library's recommended level, for users who did not choose one. */
int dft__gzip_default_level(void);

/* Size of `state`. */
size_t dft__gzip_state_bytes(void);

/* Room for the member of any text of this length; below 1.25 times the length plus 4 KiB. */
size_t dft__gzip_bound(size_t len);

/* Writes the member and returns its length; 0 when state or room is too small. level is 1 (fast) to 9 (small); others
 * are taken as the default. `state` is aligned to 64. */
size_t dft__gzip_member(void *state, size_t state_bytes, int level, const void *text, size_t len, void *out,
                        size_t room);

/* The same as a zlib stream (RFC 1950), which is what HDF5's deflate filter reads. */
size_t dft__gzip_stream(void *state, size_t state_bytes, int level, const void *bytes, size_t len, void *out,
                        size_t room);

#endif
