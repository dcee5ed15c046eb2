/* callseries.h - the moments of one kind of MPI call of one process, in the order of the calls.
 *
 * Of long series only some moments are kept: all of the first 256, then 128 of each doubling. Which ones depends on their
 * places in the series alone, so two processes keep the moments of calls that belong together.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_CALLSERIES_H
#define DFTRACER_CALLSERIES_H

#include <stdint.h>

#define MOMENT_UNKNOWN INT64_MAX

typedef struct call_moment {
  int64_t start, end; /* MOMENT_UNKNOWN: it has none */
  uint32_t name;
  uint32_t is_sure; /* of a collective: it moved data */
} call_moment;

typedef struct call_series {
  uint64_t count;
  uint64_t tid;
  call_moment *kept;
  uint32_t kept_count, room;
  int is_bad; /* its order is not known, or it has gaps */
} call_series;

#define SERIES_DROPPED UINT32_MAX
#define SERIES_NO_MEMORY (UINT32_MAX - 1)
/* Returns the place of the moment among the kept ones, or one of the two above. */
uint32_t series_add(call_series *series, uint64_t tid, call_moment moment);

#endif
