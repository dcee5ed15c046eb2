/* deflate.c - deflate streams (RFC 1951) of fixed codes, in gzip members (RFC 1952) or zlib streams (RFC 1950).
 * SPDX-License-Identifier: MIT */
#include "deflate.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define SEGMENT_BYTES 32768u /* one block each; no match reaches beyond, so that every distance is allowed */
#define HASH_LOG 12
#define MATCH_LEAST 4u
#define MATCH_MOST 258u

/* ---- Bits, the lowest first ----------------------------------------------------------------------------------------- */

typedef struct bits {
  uint8_t *at;
  uint64_t held;
  uint32_t count;
} bits;

/* At most 56 bits; writes up to eight bytes beyond what counts. */
static void put(bits *out, uint64_t value, uint32_t count) {
  uint64_t held = out->held | value << out->count;
  uint64_t low_first = htole64(held);
  uint32_t bytes = (out->count + count) / 8;
  memcpy(out->at, &low_first, sizeof low_first);
  out->at += bytes;
  out->held = held >> 8 * bytes;
  out->count = (out->count + count) % 8;
}

/* Codes of up to eight bits start with their highest. */
static uint32_t reversed(uint32_t code, uint32_t count) {
  uint64_t spread = code * UINT64_C(0x80200802) & UINT64_C(0x0884422110);
  return (uint32_t)(spread * UINT64_C(0x0101010101) >> 32 & 0xff) >> (8 - count);
}

static uint32_t log2_of(uint32_t value) {
  return 31u - (uint32_t)__builtin_clz(value);
}

/* ---- Fixed codes ---------------------------------------------------------------------------------------------------- */

static void put_symbol(bits *out, uint32_t symbol) {
  if (symbol < 144) put(out, reversed(0x30 + symbol, 8), 8);
  else if (symbol < 256) put(out, reversed(0x90 + symbol - 144, 8) << 1 | 1, 9);
  else if (symbol < 280) put(out, reversed(symbol - 256, 7), 7);
  else put(out, reversed(0xc0 + symbol - 280, 8), 8);
}

static void put_match(bits *out, uint32_t length, uint32_t distance) {
  uint32_t rest = length - 3, back = distance - 1;
  uint32_t extra = rest < 8 ? 0 : log2_of(rest) - 2;
  put_symbol(out, length == MATCH_MOST ? 285 : 257 + 4 * extra + (rest >> extra));
  if (length < MATCH_MOST) put(out, rest & ((1u << extra) - 1), extra);
  extra = back < 4 ? 0 : log2_of(back) - 1;
  put(out, reversed(2 * extra + (back >> extra), 5), 5);
  put(out, back & ((1u << extra) - 1), extra);
}

/* ---- Matches -------------------------------------------------------------------------------------------------------- */

static uint32_t four_at(const uint8_t *text) {
  uint32_t four;
  memcpy(&four, text, sizeof four);
  return four;
}

static uint32_t match_length(const uint8_t *text, const uint8_t *before, uint32_t most) {
  uint32_t length = MATCH_LEAST;
  if (most > MATCH_MOST) most = MATCH_MOST;
  while (length + 4 <= most && four_at(text + length) == four_at(before + length)) length += 4;
  while (length < most && text[length] == before[length]) length++;
  return length;
}

/* One more than where four bytes like those at `at` began last, or 0. */
static uint32_t exchange(uint16_t *recent, const uint8_t *text, uint32_t at) {
  uint16_t *slot = &recent[four_at(text + at) * 0x9e3779b1u >> (32 - HASH_LOG)];
  uint32_t before = *slot;
  *slot = (uint16_t)(at + 1);
  return before;
}

static void put_segment(bits *out, const uint8_t *text, uint32_t len, int is_last) {
  uint16_t recent[1 << HASH_LOG] = {0};
  uint32_t at = 0;
  put(out, (uint32_t)is_last | 1u << 1, 3);
  while (at + MATCH_LEAST <= len) {
    uint32_t before = exchange(recent, text, at);
    uint32_t length;
    if (!before || four_at(text + before - 1) != four_at(text + at)) {
      put_symbol(out, text[at++]);
      continue;
    }
    length = match_length(text + at, text + before - 1, len - at);
    put_match(out, length, at + 1 - before);
    for (uint32_t i = 1; i < length && at + i + MATCH_LEAST <= len; i += MATCH_LEAST) exchange(recent, text, at + i);
    at += length;
  }
  while (at < len) put_symbol(out, text[at++]);
  put_symbol(out, 256);
}

static void deflate_all(bits *out, const uint8_t *text, size_t len) {
  do {
    uint32_t part = len < SEGMENT_BYTES ? (uint32_t)len : SEGMENT_BYTES;
    put_segment(out, text, part, part == len);
    text += part;
    len -= part;
  } while (len);
  put(out, 0, 7); /* to a whole byte */
}

/* ---- What stands around it ------------------------------------------------------------------------------------------ */

static uint32_t crc32_of(const uint8_t *text, size_t len) {
  uint32_t table[4][256] = {{0}};
  uint32_t crc = 1;
  for (uint32_t step = 128; step; step >>= 1) {
    crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    for (uint32_t i = 0; i < 256; i += 2 * step) table[0][i + step] = crc ^ table[0][i];
  }
  for (uint32_t k = 1; k < 4; k++) {
    for (uint32_t i = 0; i < 256; i++) table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 0xff];
  }
  crc = ~0u;
  for (; len >= 4; len -= 4, text += 4) {
    crc ^= (uint32_t)text[0] | (uint32_t)text[1] << 8 | (uint32_t)text[2] << 16 | (uint32_t)text[3] << 24;
    crc = table[3][crc & 0xff] ^ table[2][crc >> 8 & 0xff] ^ table[1][crc >> 16 & 0xff] ^ table[0][crc >> 24];
  }
  for (; len; len--) crc = crc >> 8 ^ table[0][(crc ^ *text++) & 0xff];
  return ~crc;
}

static uint32_t adler32_of(const uint8_t *bytes, size_t len) {
  uint32_t low = 1, high = 0;
  while (len) {
    size_t part = len < 5552 ? len : 5552; /* so many fit before the sums overflow */
    len -= part;
    for (; part; part--) high += low += *bytes++;
    low %= 65521;
    high %= 65521;
  }
  return high << 16 | low;
}

size_t dft__deflate_gzip(const void *text, size_t len, void *out, size_t room) {
  static const uint8_t head[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff};
  bits body = {.at = (uint8_t *)out + sizeof head};
  uint32_t crc;
  if (room < DFT__DEFLATE_BOUND(len)) return 0;
  memcpy(out, head, sizeof head);
  deflate_all(&body, text, len);
  crc = crc32_of(text, len);
  for (int i = 0; i < 4; i++) *body.at++ = (uint8_t)(crc >> 8 * i);
  for (int i = 0; i < 4; i++) *body.at++ = (uint8_t)(len >> 8 * i);
  return (size_t)(body.at - (uint8_t *)out);
}

size_t dft__deflate_zlib(const void *bytes, size_t len, void *out, size_t room) {
  static const uint8_t head[2] = {0x78, 0x01};
  bits body = {.at = (uint8_t *)out + sizeof head};
  uint32_t sum;
  if (room < DFT__DEFLATE_BOUND(len)) return 0;
  memcpy(out, head, sizeof head);
  deflate_all(&body, bytes, len);
  sum = adler32_of(bytes, len);
  for (int i = 3; i >= 0; i--) *body.at++ = (uint8_t)(sum >> 8 * i);
  return (size_t)(body.at - (uint8_t *)out);
}
