/* statecodec.h - numbers, texts and spans as bytes of a state's file, in both directions: the same calls write and read, so
 * the two cannot differ. After a problem, calls do nothing, and what is read is zero.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_STATECODEC_H
#define DFTRACER_STATECODEC_H

#include "command/summary/tally/iostat.h"
#include "command/summary/tally/spanset.h"
#include "command/summary/tally/timesplit.h"
#include "command/trace/outfile.h"

#define STATE_MAGIC "dftracer summary state\n"
#define STATE_VERSION 5u

typedef struct state_codec {
  outfile *out; /* NULL: reads */
  int fd;
  uint8_t *buffer;
  size_t at, len;
  uint64_t left; /* bytes of the file that are not in the buffer yet */
  uint32_t crc;
  const char *problem; /* NULL: none */
} state_codec;

/* Writes or checks what a file begins with. */
void codec_begin_writing(state_codec *codec, outfile *out);
void codec_begin_reading(state_codec *codec, int fd, uint64_t bytes);
/* Writes or checks the checksum. Frees the codec. Returns the problem. */
const char *codec_end(state_codec *codec);

void codec_uint(state_codec *codec, uint64_t *number);
void codec_uint32(state_codec *codec, uint32_t *number, uint32_t limit); /* a problem when it is not below the limit */
void codec_int(state_codec *codec, int64_t *number);
void codec_histogram(state_codec *codec, histogram *values);
/* Numbers many of which are zero, at most 63. */
void codec_sparse(state_codec *codec, uint64_t *numbers, size_t count);
void codec_io(state_codec *codec, io_stats *io, int64_t origin); /* its times are relative to the origin */
void codec_spans(state_codec *codec, spanset *set);
void codec_grains(state_codec *codec, record_pile *grains);
void codec_steps(state_codec *codec, step_times **steps); /* *steps may be NULL */
/* Writes a text, or reads it into *room, which the caller frees. */
void codec_text(state_codec *codec, dft_text text, char **room, size_t *len);

static inline int codec_is_reading(const state_codec *codec) {
  return !codec->out;
}
/* There is more to do in a list of `count` entries, of which `i` are done. */
static inline int codec_has_more(const state_codec *codec, uint32_t i, uint32_t count) {
  return !codec->problem && i < count;
}

#endif
