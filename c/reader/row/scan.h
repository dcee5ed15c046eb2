/* scan.h - the small steps of reading JSON: where a text ends, which number comes next. They may look up to DFT__PADDING
 * bytes past the end of the text; the owner of the buffer puts zeros there.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_READER_SCAN_H
#define DFT_READER_SCAN_H

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define DFT__PADDING 64u

/* The first quote, backslash or control character from `at` on. A zero stops it, and padding is zeros. */
static inline const char *dft__scan_text(const char *at) {
#ifdef __SSE2__
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i control = _mm_set1_epi8(0x1f);
  for (;; at += 16) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i found = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)),
                                 _mm_cmpeq_epi8(_mm_min_epu8(bytes, control), bytes));
    int mask = _mm_movemask_epi8(found);
    if (mask) return at + __builtin_ctz((unsigned)mask);
  }
#else
  while ((unsigned char)*at > 0x1f && *at != '"' && *at != '\\') at++;
  return at;
#endif
}

static inline uint64_t dft__load8(const char *at) {
  uint64_t word;
  memcpy(&word, at, 8);
  return word;
}

/* Eight digits, the first one in the lowest byte, each as 0 to 9. */
static inline uint64_t dft__eight_digits(uint64_t digits) {
  digits = digits * 10 + (digits >> 8);
  return ((digits & 0x000000ff000000ffu) * 0x000f424000000064u +
          ((digits >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u) >>
         32;
}

/* Digits from `at` on, at most 20; the value modulo 2^64 when there are 20. */
static inline const char *dft__scan_digits(const char *at, uint64_t *value) {
  uint64_t sum = 0;
  const char *start = at;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  static const uint32_t power[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  for (;;) { /* up to eight at once */
    uint64_t digits = dft__load8(at) ^ 0x3030303030303030u;
    uint64_t others = (digits | (digits + 0x0606060606060606u)) & 0xf0f0f0f0f0f0f0f0u;
    unsigned count = others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
    if (at - start == 16 && count > 4) count = 4;
    if (!count) break;
    sum = sum * power[count] + dft__eight_digits(digits << (8 - count) * 8); /* zeros in front */
    at += count;
    if (count < 8) break;
  }
#else
  while ((unsigned char)(*at - '0') <= 9 && at - start < 20) sum = sum * 10 + (uint64_t)(*at++ - '0');
#endif
  *value = sum;
  return at;
}

static inline const char *dft__scan_blank(const char *at) {
  while (*at == ' ' || *at == '\t' || *at == '\r') at++;
  return at;
}

#endif
