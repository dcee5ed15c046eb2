/* dictionary.h - texts to row numbers, in bounded memory.
 *
 * Texts are known by 128 bits of hash, not kept. A dictionary grows up to `most` slots; then a new text takes the place of
 * an old one, which gets a second row when it comes again.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_H5_DICTIONARY_H
#define DFTRACER_H5_DICTIONARY_H

#include <dftracer/sink.h>

typedef struct dft__h5_dictionary {
  struct dft__h5_slot {
    uint64_t hash[2]; /* both 0: empty */
    uint64_t row;
  } * slots;
  uint32_t count;
  uint32_t room; /* a power of two */
  uint32_t most;
} dft__h5_dictionary;

/* Zero without memory. */
int dft__h5_dictionary_make(dft__h5_dictionary *dictionary, uint32_t most);
void dft__h5_dictionary_free(dft__h5_dictionary *dictionary);

/* The row of the text. When it is new it gets `new_row`, and that is returned. */
uint64_t dft__h5_dictionary_row(dft__h5_dictionary *dictionary, dft_text text, uint64_t new_row);

#endif
