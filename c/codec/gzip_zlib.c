/* gzip_zlib.c - gzip members by zlib.
 * SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "gzip.h"

/* zlib itself needs 262 to 392 KiB, zlib-ng in its place up to 600. */
#define STATE_BYTES ((size_t)1 << 20)
#define WINDOW 15             /* 32 KiB, with the header and trailer of a zlib stream */
#define GZIP_WINDOW (15 + 16) /* the same, as a gzip member */
#define MEMORY_LEVEL 8

/* The front of the state; the rest of it is given to zlib piece by piece. */
typedef struct zlib_arena {
  z_stream stream;
  char *next;
  char *end;
} zlib_arena;

static void *take(void *opaque, uInt items, uInt size) {
  zlib_arena *from = opaque;
  size_t bytes = ((size_t)items * size + 63) & ~(size_t)63;
  char *piece = from->next;
  if ((size_t)(from->end - piece) < bytes) return NULL;
  from->next += bytes;
  return piece;
}

static void give_back(void *opaque, void *piece) {
  (void)opaque;
  (void)piece;
}

void dft__gzip_load(void) {
} /* it is linked */

void dft__gzip_load_aside(void) {
}

const char *dft__gzip_name(void) {
  return "zlib";
}

/* 3 % smaller than level 1 for 4 % more time. */
int dft__gzip_default_level(void) {
  return 2;
}

size_t dft__gzip_state_bytes(void) {
  return STATE_BYTES;
}

/* deflateBound for any parameters, which needs no stream, and the gzip wrapper. */
size_t dft__gzip_bound(size_t len) {
  return len + len / 8 + len / 64 + 128;
}

static size_t compress_as(int window, void *state, size_t state_bytes, int level, const void *text, size_t len,
                          void *out, size_t room) {
  zlib_arena *own = state;
  z_stream *stream = &own->stream;
  if (state_bytes < STATE_BYTES || len > UINT_MAX) return 0;
  if (room > UINT_MAX) room = UINT_MAX;
  memset(own, 0, sizeof *own);
  own->next = (char *)state + ((sizeof *own + 63) & ~(size_t)63);
  own->end = (char *)state + state_bytes;
  stream->zalloc = take;
  stream->zfree = give_back;
  stream->opaque = own;
  if (level < 1 || level > 9) level = dft__gzip_default_level();
  if (deflateInit2(stream, level, Z_DEFLATED, window, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
  stream->next_in = (Bytef *)(uintptr_t)text;
  stream->avail_in = (uInt)len;
  stream->next_out = out;
  stream->avail_out = (uInt)room;
  /* No deflateEnd: there is nothing to give back. */
  return deflate(stream, Z_FINISH) == Z_STREAM_END ? room - stream->avail_out : 0;
}

size_t dft__gzip_member(void *state, size_t state_bytes, int level, const void *text, size_t len, void *out,
                        size_t room) {
  return compress_as(GZIP_WINDOW, state, state_bytes, level, text, len, out, room);
}

size_t dft__gzip_stream(void *state, size_t state_bytes, int level, const void *bytes, size_t len, void *out,
                        size_t room) {
  return compress_as(WINDOW, state, state_bytes, level, bytes, len, out, room);
}
