/* inflate.h - gzip members, piece by piece, by ISA-L or zlib. zlib also reads damaged members, because it yields every byte
 * up to the damage. SPDX-License-Identifier: MIT */
#ifndef DFT_READER_INFLATE_H
#define DFT_READER_INFLATE_H

#include <stddef.h>
#include <stdint.h>

enum dft__inflated {
  DFT__INFLATE_GOES_ON, /* it needs more input, or more room */
  DFT__INFLATE_END,     /* the member is complete and its checksum is right */
  DFT__INFLATE_BAD,
};

/* What is left of the input and of the room; each call moves both on. */
typedef struct dft__flow {
  const uint8_t *in;
  size_t in_len;
  uint8_t *out;
  size_t room;
} dft__flow;

typedef struct dft__inflater {
  const char *name;
  size_t state_bytes;
  void (*begin)(void *state); /* at the first byte of a member; before the first call the state is all zeros */
  enum dft__inflated (*run)(void *state, dft__flow *flow);
  void (*end)(void *state);
} dft__inflater;

extern const dft__inflater dft__inflater_fast; /* the fastest one in this build */
extern const dft__inflater dft__inflater_zlib;

#endif
