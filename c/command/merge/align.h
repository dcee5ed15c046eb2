/* align.h - by how much the clocks of nodes are moved so that their events fit on one timeline.
 *
 *   clock       not at all: clocks that are kept by NTP or PTP agree to well below a millisecond
 *   auto        as MPI calls demand it: offset and drift of a node are bounded by its messages and collectives. A clock that
 *               does not contradict them is not moved. Without MPI calls, or on one node, the same as `clock`
 *   start       so that the first event of every node starts at the same time
 *   event:NAME  so that events of that name end at the same time on all nodes, as collective operations do (a barrier,
 *               all_reduce): the n-th one of the first process of a node is compared with the n-th one of the first node, up
 *               to 256 of them; the node is moved by the median of the differences
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_ALIGN_H
#define DFTRACER_ALIGN_H

#include <dftracer/reader.h>

#include "command/cli/progress.h"
#include "nodeclock.h"

/* The method that needs no reading where the asked one would change nothing. */
const char *align_choose(dft_reader *reader, const char *method);

/* Reads all events once, except for "clock". Zero, after a message, when the method is unknown or there is no memory. */
int align_find(alignment *clocks, dft_reader *reader, const char *method, progress *shown);
void align_free(alignment *clocks);

/* The shifts as members of a JSON object, each after a comma. The caller frees the text. NULL: no memory. */
char *align_facts(const alignment *clocks, dft_reader *reader);

#endif
