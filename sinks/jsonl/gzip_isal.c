/* gzip_isal.c - gzip members by ISA-L.
 * SPDX-License-Identifier: MIT */
#include <isa-l/igzip_lib.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "deflate.h"
#include "gzip.h"

/* The front of the state. */
typedef struct compressor {
  struct isal_zstream stream;
  _Alignas(64) uint8_t level_buf[ISAL_DEF_LVL3_EXTRA_LARGE];
} compressor;

const char *dft__gzip_name(void) {
  return "isal";
}

int dft__gzip_default_level(void) {
  return 1;
}

size_t dft__gzip_state_bytes(void) {
  return sizeof(compressor);
}

/* Where nothing can be compressed ISA-L stores blocks of up to 64 KiB with 5 bytes each, but it wants to see some room
 * beyond before it tries. */
size_t dft__gzip_bound(size_t len) {
  return DFT__DEFLATE_BOUND(len) + 2048;
}

#define SHORT_TEXT ((size_t)16 << 10)

/* Members get by without ISA-L then (deflate.h), streams without its large tables: level 0. */
static int is_short(int level, size_t len) {
  return len < SHORT_TEXT && (level <= 1 || level > 9);
}

/* ISA-L has levels 0 to 3 only. */
static uint32_t own_level(int level, size_t len) {
  if (is_short(level, len)) return 0;
  return level <= 1 || level > 9 ? 1 : level <= 3 ? 2 : 3;
}

static size_t compress_as(uint16_t format, void *state, size_t state_bytes, int level, const void *text, size_t len,
                          void *out, size_t room) {
  static const uint32_t level_buf_size[] = {0, ISAL_DEF_LVL1_DEFAULT, ISAL_DEF_LVL2_DEFAULT, ISAL_DEF_LVL3_DEFAULT};
  compressor *own = state;
  struct isal_zstream *stream = &own->stream;
  if (state_bytes < sizeof *own || len > UINT_MAX) return 0;
  if (room > UINT_MAX) room = UINT_MAX;
  isal_deflate_stateless_init(stream);
  stream->level = own_level(level, len);
  stream->level_buf = own->level_buf;
  stream->level_buf_size = level_buf_size[stream->level];
  stream->gzip_flag = format;
  stream->end_of_stream = 1;
  stream->flush = NO_FLUSH;
  stream->next_in = (uint8_t *)(uintptr_t)text;
  stream->avail_in = (uint32_t)len;
  stream->next_out = out;
  stream->avail_out = (uint32_t)room;
  return isal_deflate_stateless(stream) == COMP_OK && stream->avail_in == 0 ? room - stream->avail_out : 0;
}

size_t dft__gzip_member(void *state, size_t state_bytes, int level, const void *text, size_t len, void *out,
                        size_t room) {
  if (is_short(level, len) && state_bytes >= sizeof(compressor)) return dft__deflate_gzip(text, len, out, room);
  return compress_as(IGZIP_GZIP, state, state_bytes, level, text, len, out, room);
}

size_t dft__gzip_stream(void *state, size_t state_bytes, int level, const void *bytes, size_t len, void *out,
                        size_t room) {
  return compress_as(IGZIP_ZLIB, state, state_bytes, level, bytes, len, out, room);
}
