/* statecodec.c - numbers, texts and spans as bytes of a state's file.
 * SPDX-License-Identifier: MIT */
#include "statecodec.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define BUFFER_BYTES (64u << 10)
#define DAMAGED "the file is damaged"
#define NO_MEMORY "out of memory"

/* ---- Bytes ---------------------------------------------------------------------------------------------------------- */

static void fail(state_codec *codec, const char *problem) {
  if (!codec->problem) codec->problem = problem;
}

static void put(state_codec *codec, const void *bytes, size_t len) {
  codec->crc = (uint32_t)crc32(codec->crc, bytes, (uInt)len);
  outfile_put(codec->out, bytes, len);
}

/* Makes a byte available. */
static int fill(state_codec *codec) {
  ssize_t len;
  if (codec->problem) return 0;
  if (codec->at < codec->len) return 1;
  codec->crc = (uint32_t)crc32(codec->crc, codec->buffer, (uInt)codec->len);
  len = codec->left ? read(codec->fd, codec->buffer, codec->left < BUFFER_BYTES ? codec->left : BUFFER_BYTES) : 0;
  codec->at = 0;
  codec->len = len > 0 ? (size_t)len : 0;
  codec->left -= codec->len;
  if (len <= 0) fail(codec, len < 0 ? "the file cannot be read" : "the file is cut off");
  return len > 0;
}

static void get(state_codec *codec, void *bytes, size_t len) {
  char *to = bytes;
  while (len && fill(codec)) {
    size_t some = codec->len - codec->at < len ? codec->len - codec->at : len;
    memcpy(to, codec->buffer + codec->at, some);
    codec->at += some;
    to += some;
    len -= some;
  }
}

/* ---- Numbers: seven bits in a byte, the lowest first; the highest bit says that more follow ---------------------------- */

static void put_uint(state_codec *codec, uint64_t number) {
  uint8_t bytes[10];
  size_t len = 0;
  for (; number > 127; number >>= 7) bytes[len++] = (uint8_t)(number | 128);
  bytes[len++] = (uint8_t)number;
  put(codec, bytes, len);
}

static uint64_t get_uint(state_codec *codec) {
  uint64_t number = 0;
  for (uint32_t shift = 0; shift < 64 && fill(codec); shift += 7) {
    uint8_t byte = codec->buffer[codec->at++];
    number |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) return number;
  }
  fail(codec, DAMAGED);
  return 0;
}

void codec_uint(state_codec *codec, uint64_t *number) {
  if (codec_is_reading(codec)) *number = get_uint(codec);
  else put_uint(codec, *number);
}

void codec_uint32(state_codec *codec, uint32_t *number, uint32_t limit) {
  uint64_t wide = *number;
  codec_uint(codec, &wide);
  if (wide >= limit) fail(codec, DAMAGED);
  *number = codec->problem ? 0 : (uint32_t)wide;
}

/* The sign is the lowest bit, so numbers near zero are short. */
void codec_int(state_codec *codec, int64_t *number) {
  uint64_t folded = (uint64_t)*number << 1 ^ (uint64_t)(*number >> 63);
  codec_uint(codec, &folded);
  *number = (int64_t)(folded >> 1) ^ -(int64_t)(folded & 1);
}

void codec_text(state_codec *codec, dft_text text, char **room, size_t *len) {
  uint64_t wide = text.len;
  codec_uint(codec, &wide);
  if (!codec_is_reading(codec)) {
    put(codec, text.text, text.len);
    return;
  }
  if (wide > codec->left + codec->len - codec->at) fail(codec, DAMAGED);
  *room = NULL;
  *len = codec->problem ? 0 : (size_t)wide;
  if (codec->problem) return;
  *room = malloc(*len + 1);
  if (*room) get(codec, *room, *len);
  else fail(codec, NO_MEMORY);
}

/* ---- Counts --------------------------------------------------------------------------------------------------------- */

/* Steps that have values, as the distance from the last one and a count; a count of 0 is the end. */
void codec_histogram(state_codec *codec, histogram *values) {
  uint32_t step = 0;
  uint64_t count, gap = 0, all = 0;
  codec_uint(codec, &values->count);
  codec_uint(codec, &values->least);
  codec_uint(codec, &values->most);
  if (!codec_is_reading(codec)) {
    uint32_t last = 0;
    for (; (count = histogram_next_step(values, &step)) != 0; last = step++) {
      put_uint(codec, count);
      put_uint(codec, step - last);
    }
    put_uint(codec, 0);
    return;
  }
  while ((count = get_uint(codec)) != 0) {
    gap = get_uint(codec);
    if (gap >= HISTOGRAM_STEPS || step + gap >= HISTOGRAM_STEPS || count > values->count - all) fail(codec, DAMAGED);
    if (codec->problem) break;
    all += count;
    step += (uint32_t)gap;
    if (!histogram_add_step(values, step, count)) fail(codec, NO_MEMORY);
  }
  if (all != values->count || values->least > values->most) fail(codec, DAMAGED);
}

/* A number whose bits say which are not zero, and these. */
void codec_sparse(state_codec *codec, uint64_t *const *numbers, size_t count) {
  uint64_t used = 0;
  for (size_t i = 0; i < count; i++) used |= (uint64_t)(*numbers[i] != 0) << i;
  codec_uint(codec, &used);
  if (used >> count) fail(codec, DAMAGED);
  for (size_t i = 0; i < count; i++) {
    if (used >> i & 1) codec_uint(codec, numbers[i]);
  }
}

void codec_io(state_codec *codec, io_stats *io, int64_t origin) {
  uint64_t *const numbers[] = {IO_STATS_NUMBERS(io)};
  codec_sparse(codec, numbers, IO_STATS_COUNT);
  if (io_stats_calls(io)) {
    int64_t begin = (int64_t)((uint64_t)io->first - (uint64_t)origin);
    uint64_t time_ns = (uint64_t)io->last - (uint64_t)io->first;
    codec_int(codec, &begin);
    codec_uint(codec, &time_ns);
    io->first = (int64_t)((uint64_t)origin + (uint64_t)begin);
    io->last = (int64_t)((uint64_t)io->first + time_ns);
  }
  codec_histogram(codec, &io->sizes);
}

/* Spans in order, as a length and the distance from the end of the last one; a length of 0 is the end. */
void codec_spans(state_codec *codec, spanset *set) {
  int64_t end = 0;
  if (codec_is_reading(codec)) {
    uint64_t length;
    while ((length = get_uint(codec)) != 0) {
      int64_t gap = 0, start;
      codec_int(codec, &gap);
      if (__builtin_add_overflow(end, gap, &start) || __builtin_add_overflow(start, length, &end)) fail(codec, DAMAGED);
      if (codec->problem) return;
      if (!spanset_add(set, start, end)) fail(codec, NO_MEMORY);
    }
    if (!spanset_settle(set)) fail(codec, NO_MEMORY);
  } else {
    span_stream stream;
    time_span span;
    if (span_stream_open(&stream, &set, 1)) {
      while (span_stream_next(&stream, &span)) {
        int64_t gap = span.start - end;
        put_uint(codec, (uint64_t)(span.end - span.start));
        codec_int(codec, &gap);
        end = span.end;
      }
    }
    if (!stream.merge.is_good) fail(codec, NO_MEMORY);
    span_stream_close(&stream);
    put_uint(codec, 0);
  }
}

/* Calls in order, as the distance from the start of the last one, and a length. */
void codec_arrivals(state_codec *codec, arrival_list *list) {
  uint64_t count = list->count;
  int64_t last = 0;
  codec_uint(codec, &count);
  if (codec_is_reading(codec)) {
    for (uint64_t i = 0; i < count && !codec->problem; i++) {
      int64_t gap = 0, end;
      uint64_t length;
      codec_int(codec, &gap);
      length = get_uint(codec);
      if (__builtin_add_overflow(last, gap, &last) || __builtin_add_overflow(last, length, &end)) fail(codec, DAMAGED);
      if (!codec->problem && !arrival_list_add(list, last, end)) fail(codec, NO_MEMORY);
    }
  } else {
    run_merge merge;
    const time_span *call;
    record_pile_read(&list->calls, &merge);
    while ((call = run_merge_next(&merge)) != NULL) {
      int64_t gap = call->start - last;
      codec_int(codec, &gap);
      put_uint(codec, (uint64_t)(call->end - call->start));
      last = call->start;
    }
    if (!merge.is_good) fail(codec, NO_MEMORY);
    run_merge_free(&merge);
  }
}

/* ---- Beginning and end ---------------------------------------------------------------------------------------------- */

void codec_begin_writing(state_codec *codec, outfile *out) {
  *codec = (state_codec){.out = out};
  put(codec, STATE_MAGIC, strlen(STATE_MAGIC));
  put_uint(codec, STATE_VERSION);
}

void codec_begin_reading(state_codec *codec, int fd, uint64_t bytes) {
  char magic[sizeof STATE_MAGIC] = "";
  *codec = (state_codec){.fd = fd, .left = bytes, .buffer = malloc(BUFFER_BYTES)};
  if (!codec->buffer) fail(codec, NO_MEMORY);
  get(codec, magic, strlen(STATE_MAGIC));
  if (!codec->problem && strcmp(magic, STATE_MAGIC) != 0) fail(codec, "the file is not a state of a summary");
  if (!codec->problem && get_uint(codec) != STATE_VERSION) fail(codec, "the state is of another version of dftracer");
}

const char *codec_end(state_codec *codec) {
  uint8_t bytes[4];
  if (codec_is_reading(codec)) {
    uint32_t crc = codec->problem ? 0 : (uint32_t)crc32(codec->crc, codec->buffer, (uInt)codec->at);
    get(codec, bytes, sizeof bytes);
    for (uint32_t i = 0; i < 4 && !codec->problem; i++) {
      if (bytes[i] != (uint8_t)(crc >> 8 * i)) fail(codec, DAMAGED);
    }
    if (codec->at < codec->len || codec->left) fail(codec, DAMAGED);
    free(codec->buffer);
  } else {
    for (uint32_t i = 0; i < 4; i++) bytes[i] = (uint8_t)(codec->crc >> 8 * i);
    outfile_put(codec->out, (const char *)bytes, sizeof bytes);
  }
  return codec->problem;
}
