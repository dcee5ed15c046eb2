/* lostspool.h - traces whose spool is gone, with the memory of its node: what had been written already becomes a trace.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SALVAGE_H
#define DFTRACER_SALVAGE_H

#include <stdint.h>

typedef struct salvage {
  uint32_t published;
  uint32_t settled; /* of an earlier boot of this node, or of others: a recovery had to leave them alone */
  uint32_t waiting; /* of other nodes: only people know whether their spools are gone */
  uint32_t failed;
  uint64_t events;
} salvage;

/* The claims of a trace's folder that point to a spool that is not there. Gone for good it is when this node was the one, or
 * when the caller says so. May be run again after it was killed. */
void salvage_folder(const char *folder, int is_lost, salvage *of);

#endif
