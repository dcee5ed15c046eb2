/* buffer.h - bytes with room for padding behind them. SPDX-License-Identifier: MIT */
#ifndef DFT_READER_BUFFER_H
#define DFT_READER_BUFFER_H

#include <stdlib.h>

#include "scan.h"

typedef struct dft__buffer {
  char *bytes;
  size_t len;
  size_t capacity;
} dft__buffer;

/* 0: no memory. */
static inline int dft__buffer_reserve(dft__buffer *buffer, size_t capacity) {
  char *bytes;
  if (buffer->bytes && capacity <= buffer->capacity) return 1;
  bytes = realloc(buffer->bytes, capacity + DFT__PADDING);
  if (!bytes) return 0;
  buffer->bytes = bytes;
  buffer->capacity = capacity;
  return 1;
}

#endif
