/* inflate.h - gzip members, piece by piece. inflate_isal.c and inflate_zlib.c do the work; the second also serves where a
 * member is damaged, because it gives every byte that can be had. SPDX-License-Identifier: MIT */
#ifndef DFT_READER_INFLATE_H
#define DFT_READER_INFLATE_H

#include <stddef.h>
#include <stdint.h>

enum dft__inflated {
  DFT__INFLATE_GOES_ON, /* it wants more input, or more room */
  DFT__INFLATE_END,     /* the member is complete, and its checksum right */
  DFT__INFLATE_BAD,
};

/* Both are moved on. */
typedef struct dft__flow {
  const uint8_t *in;
  size_t in_len;
  uint8_t *out;
  size_t room;
} dft__flow;

typedef struct dft__inflater {
  const char *name;
  size_t state_bytes;
  void (*begin)(void *state); /* at the first byte of a member; state is zero at first */
  enum dft__inflated (*run)(void *state, dft__flow *flow);
  void (*end)(void *state);
} dft__inflater;

extern const dft__inflater dft__inflater_fast; /* the best that was built in */
extern const dft__inflater dft__inflater_zlib;

#endif
