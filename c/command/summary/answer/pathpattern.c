/* pathpattern.c - paths that differ only in numbers.
 * SPDX-License-Identifier: MIT */
#include "pathpattern.h"

#include <string.h>

#define EXTENSION_MOST 10 /* characters of what counts as an extension */
#define EXTENSION_SHORT 4 /* of one that keeps its digits */
#define RANGE_EXTRA 4u    /* characters around two numbers: {1..2} */

static int is_digit(char c) {
  return c >= '0' && c <= '9';
}

static int is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Where the extension begins, behind the dot; `len`: there is none. */
static size_t extension_at(const char *text, size_t len) {
  for (size_t i = len; i-- > 1 && text[i] != '/';) {
    if (text[i] == '.') return text[i - 1] == '/' || i + 1 == len || !is_letter(text[i + 1]) ? len : i + 1;
  }
  return len;
}

size_t path_pattern(char *out, dft_text path) {
  const size_t at = extension_at(path.text, path.len);
  const size_t end = path.len - at <= EXTENSION_SHORT ? at : path.len; /* what follows is kept */
  size_t len = 0;
  if (memchr(path.text, PATTERN_NUMBER, path.len)) return 0;
  for (size_t i = 0; i < path.len;) {
    if (i >= end || !is_digit(path.text[i])) {
      out[len++] = path.text[i++];
      continue;
    }
    out[len++] = PATTERN_NUMBER;
    while (i < end && is_digit(path.text[i])) i++;
  }
  return len;
}

dft_text path_pattern_extension(dft_text pattern) {
  const size_t at = extension_at(pattern.text, pattern.len);
  dft_text extension = {pattern.text + at, pattern.len - at};
  if (extension.len > EXTENSION_MOST || memchr(extension.text, PATTERN_NUMBER, extension.len)) extension.len = 0;
  return extension;
}

uint32_t path_pattern_numbers(dft_text pattern, size_t len) {
  uint32_t count = 0;
  for (size_t i = 0; i < len; i++) count += pattern.text[i] == PATTERN_NUMBER;
  return count;
}

/* Of numbers of any length; 007 comes after 7. */
static int compare(dft_text one, dft_text two) {
  size_t one_zeros = 0, two_zeros = 0;
  int order;
  while (one_zeros < one.len && one.text[one_zeros] == '0') one_zeros++;
  while (two_zeros < two.len && two.text[two_zeros] == '0') two_zeros++;
  if (one.len - one_zeros != two.len - two_zeros) return one.len - one_zeros < two.len - two_zeros ? -1 : 1;
  order = memcmp(one.text + one_zeros, two.text + two_zeros, one.len - one_zeros);
  return order ? order : (one.len > two.len) - (one.len < two.len);
}

void number_ranges_widen(number_range *ranges, uint32_t count, dft_text pattern, dft_text path) {
  uint32_t number = 0;
  for (size_t i = 0, at = 0; i < pattern.len && number < count; i++) {
    dft_text digits = {path.text + at, 0};
    if (pattern.text[i] != PATTERN_NUMBER) {
      at++;
      continue;
    }
    while (at < path.len && is_digit(path.text[at])) at++, digits.len++;
    if (!ranges[number].least.text || compare(digits, ranges[number].least) < 0) ranges[number].least = digits;
    if (!ranges[number].most.text || compare(digits, ranges[number].most) > 0) ranges[number].most = digits;
    number++;
  }
}

size_t number_ranges_room(const number_range *ranges, uint32_t count, size_t len) {
  for (uint32_t i = 0; i < count; i++) len += ranges[i].least.len + ranges[i].most.len + RANGE_EXTRA;
  return len;
}

static size_t put(char *out, dft_text text) {
  memcpy(out, text.text, text.len);
  return text.len;
}

size_t number_ranges_put(char *out, const number_range *ranges, dft_text pattern, size_t len) {
  char *at = out;
  for (size_t i = 0; i < len; i++) {
    if (pattern.text[i] != PATTERN_NUMBER) {
      *at++ = pattern.text[i];
      continue;
    }
    if (compare(ranges->least, ranges->most) == 0) {
      at += put(at, ranges->least);
    } else {
      *at++ = '{';
      at += put(at, ranges->least);
      at += put(at, (dft_text){"..", 2});
      at += put(at, ranges->most);
      *at++ = '}';
    }
    ranges++;
  }
  return (size_t)(at - out);
}
