/* inflate_zlib.c - gzip members by zlib.
 * SPDX-License-Identifier: MIT */
#include <limits.h>
#include <string.h>
#include <zlib.h>

#include "inflate.h"

typedef struct zlib_state {
  z_stream stream;
  int is_ready;
} zlib_state;

static void begin(void *opaque) {
  zlib_state *state = opaque;
  if (state->is_ready) {
    inflateReset(&state->stream);
    return;
  }
  memset(&state->stream, 0, sizeof state->stream);
  state->is_ready = inflateInit2(&state->stream, 15 + 16) == Z_OK;
}

static enum dft__inflated run(void *opaque, dft__flow *flow) {
  zlib_state *state = opaque;
  z_stream *stream = &state->stream;
  uInt in = flow->in_len > UINT_MAX ? UINT_MAX : (uInt)flow->in_len;
  uInt room = flow->room > UINT_MAX ? UINT_MAX : (uInt)flow->room;
  int result;
  if (!state->is_ready) return DFT__INFLATE_BAD;
  stream->next_in = (Bytef *)(uintptr_t)flow->in;
  stream->avail_in = in;
  stream->next_out = flow->out;
  stream->avail_out = room;
  result = inflate(stream, Z_SYNC_FLUSH);
  flow->in = stream->next_in;
  flow->in_len -= in - stream->avail_in;
  flow->out = stream->next_out;
  flow->room -= room - stream->avail_out;
  if (result == Z_STREAM_END) return DFT__INFLATE_END;
  return result == Z_OK || result == Z_BUF_ERROR ? DFT__INFLATE_GOES_ON : DFT__INFLATE_BAD;
}

static void end(void *opaque) {
  zlib_state *state = opaque;
  if (state->is_ready) inflateEnd(&state->stream);
  state->is_ready = 0;
}

const dft__inflater dft__inflater_zlib = {"zlib", sizeof(zlib_state), begin, run, end};
#ifndef DFT__INFLATE_ISAL
const dft__inflater dft__inflater_fast = {"zlib", sizeof(zlib_state), begin, run, end};
#endif
