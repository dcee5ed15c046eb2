/* lastline.h - what a trace says of itself in its last line, without reading all of it.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_ENDING_H
#define DFTRACER_ENDING_H

#include <stdint.h>

typedef struct ending {
  uint64_t events;
  uint64_t dropped;
  int is_recovered;
} ending;

/* Of a complete .pfw or .pfw.gz; zero when it has no `end`, or cannot be read. Where the `end` does not tell the number of
 * events (DFTRACER_INC_METADATA=0) they are counted. */
int ending_read(const char *path, ending *of);

#endif
