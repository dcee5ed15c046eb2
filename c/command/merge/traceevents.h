/* traceevents.h - the events of dftracer's own traces in a timeline. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TRACEEVENTS_H
#define DFTRACER_TRACEEVENTS_H

#include <dftracer/reader.h>

#include "align.h"
#include "command/cli/progress.h"
#include "timeline.h"

/* Adds all events of the reader. `clocks`: by how much the nodes' clocks are moved; NULL: not at all. Returns 0 or an errno. */
int traceevents_add(timeline *merged, dft_reader *reader, const alignment *clocks, progress *shown);

#endif
