/* traceend.h - the last line of a trace, the event `end`, found without reading the whole file.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TRACEEND_H
#define DFTRACER_TRACEEND_H

#include <stdint.h>

typedef struct trace_end {
  uint64_t events;
  uint64_t dropped;
  int is_recovered;
} trace_end;

/* Reads the end of a complete .pfw or .pfw.gz. Returns zero when there is no `end`, or the file cannot be read. When the
 * `end` does not contain the number of events (DFTRACER_INC_METADATA=0), it counts them. */
int trace_end_read(const char *path, trace_end *end);

#endif
