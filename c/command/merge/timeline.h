/* timeline.h - one timeline of many traces, in Chrome's format: Chrome, Perfetto and others load it.
 *
 * Events are written as they come, in the order of the inputs; viewers sort them. Every process is a track of its own,
 * named after its rank; hashes of files and texts are resolved. Memory does not grow with the number of events.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TIMELINE_H
#define DFTRACER_TIMELINE_H

#include <dftracer/reader.h>

#include "command/cli/progress.h"
#include "command/trace/outfile.h"
#include "tracks.h"

typedef struct timeline {
  outfile out;
  tracks tracks;
  uint64_t events; /* as event.h counts them; of guests, spans: X or B */
  uint64_t lines;
  /* What times are counted from: the epoch, or, where there are fractions of microseconds, a day near the first event, for
   * viewers keep times as doubles and could not tell them apart otherwise. */
  int64_t base_ns;
  int has_base, is_fine_grained;
  const int64_t *shift_ns; /* by the number of the host in the reader; NULL: none is moved */
  uint32_t shift_count;
  /* the process of the row before: most rows have the same */
  uint32_t last_source, last_host;
  uint64_t last_pid;
  size_t last_process;
  uint32_t source_host; /* of the current source, for rows that name none */
} timeline;

/* `facts`: JSON members for "otherData", or empty. Nonzero: an errno. */
int timeline_open(timeline *of, const char *path, const char *facts);

/* Call before events are added: there will be fractions of microseconds. */
void timeline_expect_fractions(timeline *of);

/* All that the reader has; nonzero: an errno. */
int timeline_add_reader(timeline *of, dft_reader *reader, progress *shown);

/* A file in Chrome's format, the number 1, 2 ... of its kind. Its events go to the track of the process with the
 * same rank and pid, where there is one. Zero, and a message for `command`, when it cannot be read. */
int timeline_add_guest(timeline *to, const char *command, const char *path, uint32_t number);

/* Names of processes, and the end. Nonzero: an errno. */
int timeline_close(timeline *of, int is_complete);

#endif
