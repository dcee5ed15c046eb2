/* timeline_parts.h - what the files that write timelines share.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TIMELINE_PARTS_H
#define DFTRACER_TIMELINE_PARTS_H

#include "timeline.h"

/* A comma after the line before, and the beginning of this one. */
void timeline_begin_line(timeline *of, const char *start);

/* A time since the epoch, as the timeline counts it. */
void timeline_put_time(timeline *of, int64_t ns);

/* The arguments of a row as a JSON object; with_file: the file's name among them. */
void timeline_put_args(outfile *out, dft_reader *reader, const dft_rows *rows, uint32_t i, int with_file);

#endif
