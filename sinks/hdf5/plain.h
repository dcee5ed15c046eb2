/* plain.h - events as the JSON lines show them: every key usable and unique, every text UTF-8.
 *
 * What the user gave needs that seldom. The rules are those of c/codec/line.c, so that both files of a trace say the
 * same: an empty key is "_", a key that the format uses itself gets "arg." before it, bytes that are no UTF-8 become U+FFFD
 * and stand as hex in KEY.hex, a cut text's length in KEY.cut; names that are empty are "(unnamed)".
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_H5_PLAIN_H
#define DFTRACER_H5_PLAIN_H

#include <dftracer/sink.h>

/* Whether the event, or one of its parts, needs it. */
int dft__h5_plain_text(dft_text text); /* is UTF-8 */
int dft__h5_plain_key(dft_text key);
int dft__h5_plain_values(const dft_event *event); /* all but keys */

/* The event in its plain form; all its memory is freed with dft__h5_plain_free. Zero without memory. */
typedef struct dft__h5_plain {
  dft_event event;
  dft_value *values;
  uint32_t room;
  void **blocks;
  uint32_t block_count, block_room;
} dft__h5_plain;

int dft__h5_plain_make(dft__h5_plain *plain, const dft_event *event);
void dft__h5_plain_free(dft__h5_plain *plain);

#endif
