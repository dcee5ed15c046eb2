/* callseries.c - the moments of one kind of MPI call of one process.
 * SPDX-License-Identifier: MIT */
#include "callseries.h"

#include <stdlib.h>

#define KEPT_BITS 7u /* 2^7 of each doubling */

static int is_kept(uint64_t place) {
  unsigned bits = place ? 63u - (unsigned)__builtin_clzll(place) : 0;
  return bits <= KEPT_BITS || !(place & ((UINT64_C(1) << (bits - KEPT_BITS)) - 1));
}

uint32_t series_add(call_series *series, uint64_t tid, call_moment moment) {
  if (!series->count) series->tid = tid;
  if (series->tid != tid) series->is_bad = 1; /* calls of two threads are not in the trace in the order of time */
  if (series->is_bad || !is_kept(series->count++)) return SERIES_DROPPED;
  if (series->kept_count == series->room) {
    uint32_t room = series->room ? 2 * series->room : 16;
    call_moment *more = realloc(series->kept, room * sizeof *more);
    if (!more) return SERIES_NO_MEMORY;
    series->kept = more;
    series->room = room;
  }
  series->kept[series->kept_count] = moment;
  return series->kept_count++;
}
