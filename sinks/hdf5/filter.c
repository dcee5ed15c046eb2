/* filter.c - shuffle and deflate.
 * SPDX-License-Identifier: MIT */
#include "filter.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "codec/gzip.h"
#include "schema.h"

struct dft__h5_filter {
  _Alignas(64) uint8_t state[DFT__GZIP_STATE_MOST];
  uint8_t shuffled[DFT__H5_ROWS * 8];
  int level;
};

dft__h5_filter *dft__h5_filter_make(int level) {
  dft__h5_filter *filter = aligned_alloc(64, (sizeof *filter + 63) & ~(size_t)63);
  if (filter) filter->level = level;
  return filter;
}

void dft__h5_filter_free(dft__h5_filter *filter) {
  free(filter);
}

size_t dft__h5_filter_bound(size_t size) {
  return dft__gzip_bound(DFT__H5_ROWS * size);
}

/* First bytes of all values, then second bytes ... Eight values at a time: the compiler makes vector code of it. */
static void shuffle(uint8_t *out, const uint8_t *in, size_t size) {
  for (size_t i = 0; i < DFT__H5_ROWS; i += 16) {
    for (size_t byte = 0; byte < size; byte++) {
      uint8_t *row = out + byte * DFT__H5_ROWS + i;
      for (size_t k = 0; k < 16; k++) row[k] = in[(i + k) * size + byte];
    }
  }
}

static void shuffle_any(uint8_t *out, const uint8_t *in, size_t size) {
  if (size == 8) shuffle(out, in, 8); /* sizes that the compiler knows */
  else if (size == 4) shuffle(out, in, 4);
  else shuffle(out, in, size);
}

size_t dft__h5_filter_pack(dft__h5_filter *filter, const void *values, size_t size, uint8_t *out, size_t room) {
  const void *from = values;
  if (size > 1) {
    shuffle_any(filter->shuffled, values, size);
    from = filter->shuffled;
  }
  return dft__gzip_stream(filter->state, sizeof filter->state, filter->level, from, DFT__H5_ROWS * size, out, room);
}

int dft__h5_filter_unpack(dft__h5_filter *filter, const uint8_t *packed, size_t len, size_t size, void *values) {
  uint8_t *to = values;
  uLongf got = (uLongf)(DFT__H5_ROWS * size);
  if (uncompress(size == 1 ? to : filter->shuffled, &got, packed, (uLong)len) != Z_OK) return 0;
  if (got != DFT__H5_ROWS * size) return 0;
  for (size_t i = 0; size > 1 && i < DFT__H5_ROWS; i++) {
    for (size_t byte = 0; byte < size; byte++) to[i * size + byte] = filter->shuffled[byte * DFT__H5_ROWS + i];
  }
  return 1;
}
