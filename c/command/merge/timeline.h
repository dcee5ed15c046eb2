/* timeline.h - the file of a timeline, in Chrome's trace format, which Chrome, Perfetto and others load.
 *
 * Events are written as they come, in the order of the inputs; viewers sort them. Every process is a track of its own, named
 * after its rank. Memory does not grow with the number of events. The events of our own traces come from traceevents.h, those
 * of other profilers from guestevents.h.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TIMELINE_H
#define DFTRACER_TIMELINE_H

#include "command/trace/numbering.h"
#include "command/trace/outfile.h"
#include "tracks.h"

typedef struct timeline {
  outfile out;
  track_list tracks;
  uint64_t events; /* as eventrule.h counts them; of guests, spans: X or B */
  uint64_t lines;
  numbering runs; /* the runs that our traces are of */
  /* All times are relative to this: the epoch, or, if there are fractions of microseconds, a day near the first event. Viewers
   * keep times as doubles, which cannot hold microseconds since the epoch together with their fractions. */
  int64_t base_ns;
  int has_base, has_fractions;
} timeline;

/* `facts`: JSON members for "otherData", or empty. Returns 0 or an errno. */
int timeline_open(timeline *merged, const char *path, const char *facts);

/* Announces fractions of microseconds. Call it before the first event. */
void timeline_expect_fractions(timeline *merged);

/* Separates the line from the previous one, and begins it with `start`. */
void timeline_begin_line(timeline *merged, const char *start);

/* Writes a time since the epoch, relative to the timeline's base. */
void timeline_put_time(timeline *merged, int64_t ns);

/* Writes the names of the processes and the end of the file. Returns 0 or an errno. */
int timeline_close(timeline *merged, int is_complete);

#endif
