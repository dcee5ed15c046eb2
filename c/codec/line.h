/* line.h - one event as one JSON line, in the form that every reader of traces accepts (sinks/FORMAT.md).
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SINK_LINE_H
#define DFTRACER_SINK_LINE_H

#include <dftracer/sink.h>

/* Room that dft__line_encode needs beyond the line itself, so that it need not count the bytes of fixed parts. */
#define DFT__LINE_RESERVE 512

/* Writes the line with its newline and returns its length; 0 when room is too small, and then nothing of `out` counts.
 * host_hash is terminated. A pure function: no allocation, no locale, no state. */
size_t dft__line_encode(char *out, size_t room, const dft_event *event, const char *host_hash);

/* The same for an event whose line does not fit: its values are replaced by "cut":1, and its name and category end after
 * a few hundred bytes. It always fits into 16 KiB. */
size_t dft__line_encode_short(char *out, size_t room, const dft_event *event, const char *host_hash);

#endif
