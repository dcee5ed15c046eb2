/* escape.h - text inside a JSON string: any bytes in, valid and compact JSON out.
 *
 * Quotes, backslashes and control characters are escaped. So are square brackets, because one reader skips lines that
 * contain them. Bytes that are not UTF-8 become U+FFFD. Nearly all texts are short and need no escapes: the inline path
 * copies and checks eight bytes at a time.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SINK_ESCAPE_H
#define DFTRACER_SINK_ESCAPE_H

#include <dftracer/sink.h>

/* The general case. Writes from `at` on, not beyond `limit`; returns the end, or NULL when it does not fit. Sets *bad
 * when bytes were replaced, and leaves it alone otherwise. */
char *dft__escape_any(char *at, const char *limit, dft_text text, int *bad);

/* The length of the well-formed character of two bytes or more that starts here; 0 when there is none. */
size_t dft__escape_character_len(const unsigned char *text, size_t len);

/* Two lower-case digits a byte; same results. */
char *dft__escape_hex(char *at, const char *limit, dft_text text);

/* Nonzero when one of the eight bytes must not be copied as it is. The additions work on seven bits each, so that no
 * carry leaves a byte and the answer is exact. */
static inline uint64_t dft__escape_is_needed(uint64_t word) {
  const uint64_t ones = 0x0101010101010101u;
  uint64_t seven = word & 0x7f * ones;
  uint64_t at_least_space = seven + 0x60 * ones;
  uint64_t not_quote = (seven ^ 0x22 * ones) + 0x7f * ones;
  uint64_t bracket_or_backslash = (seven + (0x80 - 0x5b) * ones) & ~(seven + (0x80 - 0x5e) * ones);
  return (word | ~at_least_space | ~not_quote | bracket_or_backslash) & 0x80 * ones;
}

/* Copies the text when it is clean; nonzero when it was not. Reads and writes nothing beyond len: the last word
 * overlaps the one before. */
static inline int dft__escape_copy(char *at, const char *text, size_t len) {
  uint64_t word;
  uint32_t low, high;
  if (len >= 8) {
    for (size_t i = 0; i + 8 < len; i += 8) {
      memcpy(&word, text + i, 8);
      if (dft__escape_is_needed(word)) return 1;
      memcpy(at + i, &word, 8);
    }
    memcpy(&word, text + len - 8, 8);
    memcpy(at + len - 8, &word, 8);
    return dft__escape_is_needed(word) != 0;
  }
  if (len >= 4) {
    memcpy(&low, text, 4);
    memcpy(&high, text + len - 4, 4);
    memcpy(at, &low, 4);
    memcpy(at + len - 4, &high, 4);
    return dft__escape_is_needed(low | (uint64_t)high << 32) != 0;
  }
  word = 0x2020202020202020u;
  for (size_t i = 0; i < len; i++) {
    at[i] = text[i];
    word = word << 8 | (unsigned char)text[i];
  }
  return dft__escape_is_needed(word) != 0;
}

/* As dft__escape_any. */
static inline char *dft__escape_text(char *at, const char *limit, dft_text text, int *bad) {
  if (limit - at < (ptrdiff_t)text.len) return NULL;
  if (dft__escape_copy(at, text.text, text.len)) return dft__escape_any(at, limit, text, bad);
  return at + text.len;
}

#endif
