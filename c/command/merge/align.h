/* align.h - by how much the clocks of nodes are moved so that their events fit one timeline.
 *
 *   clock       not at all: nodes that keep the time by NTP or PTP agree to well below a millisecond
 *   start       the first event of every node happens when that of the first node does
 *   event:NAME  events of that name end together on all nodes, as collective operations do (a barrier, all_reduce): of the
 *               first process of each node the n-th one is compared with the n-th one of the first node, for the first 256;
 *               the median of the differences is the node's
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_ALIGN_H
#define DFTRACER_ALIGN_H

#include <dftracer/reader.h>

#include "command/cli/progress.h"

typedef struct alignment {
  int64_t *shift_ns; /* by the number of the host in the reader; 0 for those that stay */
  uint32_t count;
} alignment;

/* Reads everything once, but for "clock". Zero, after a message, when the method is not known or nothing fits it. */
int align_find(alignment *of, dft_reader *reader, const char *method, progress *shown);
void align_free(alignment *of);

/* The shifts as members of a JSON object, each after a comma; to be freed. NULL: no memory. */
char *align_facts(const alignment *of, dft_reader *reader, const char *method);

#endif
