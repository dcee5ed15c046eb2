/* delta.c - values of a column as differences.
 * SPDX-License-Identifier: MIT */
#include "delta.h"

#include <string.h>

/* Seven bits a byte, the lowest first; a difference's sign in the lowest bit. */
static uint8_t *put(uint8_t *at, uint64_t value, uint64_t before) {
  int64_t step = (int64_t)(value - before);
  uint64_t bits = (uint64_t)step << 1 ^ (uint64_t)(step >> 63);
  while (bits >= 0x80) {
    *at++ = (uint8_t)(bits | 0x80);
    bits >>= 7;
  }
  *at++ = (uint8_t)bits;
  return at;
}

static const uint8_t *get(const uint8_t *at, const uint8_t *end, uint64_t before, uint64_t *value) {
  uint64_t bits = 0;
  unsigned shift = 0;
  do {
    if (at == end || shift > 63) return NULL;
    bits |= (uint64_t)(*at & 0x7f) << shift;
    shift += 7;
  } while (*at++ & 0x80);
  *value = before + (bits >> 1 ^ (0 - (bits & 1)));
  return at;
}

uint8_t *dft__h5_delta_put(uint8_t *at, uint32_t type, const void *values, size_t count) {
  const uint32_t *half = values;
  const uint64_t *whole = values;
  uint64_t before = 0;
  if (type == DFT__H5_U8 || type == DFT__H5_F64) {
    size_t bytes = count * (type == DFT__H5_U8 ? 1 : 8);
    memcpy(at, values, bytes);
    return at + bytes;
  }
  if (type == DFT__H5_U32 || type == DFT__H5_I32) {
    for (size_t i = 0; i < count; before = half[i++]) at = put(at, half[i], before);
  } else {
    for (size_t i = 0; i < count; before = whole[i++]) at = put(at, whole[i], before);
  }
  return at;
}

const uint8_t *dft__h5_delta_get(const uint8_t *at, const uint8_t *end, uint32_t type, void *values, size_t count) {
  uint32_t *half = values;
  uint64_t *whole = values;
  uint64_t value = 0;
  if (type == DFT__H5_U8 || type == DFT__H5_F64) {
    size_t bytes = count * (type == DFT__H5_U8 ? 1 : 8);
    if ((size_t)(end - at) < bytes) return NULL;
    memcpy(values, at, bytes);
    return at + bytes;
  }
  for (size_t i = 0; at && i < count; i++) {
    at = get(at, end, value, &value);
    if (type == DFT__H5_U32 || type == DFT__H5_I32) half[i] = (uint32_t)value;
    else whole[i] = value;
  }
  return at;
}
