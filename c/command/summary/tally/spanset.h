/* spanset.h - the time in which something was going on: spans, sorted and disjoint, as many as there are.
 *
 * What does not fit in memory is spilled as sorted runs. A span_stream merges the runs of any number of sets, so totals and
 * overlaps are exact. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SPANSET_H
#define DFTRACER_SPANSET_H

#include "command/trace/runmerge.h"

typedef struct time_span {
  int64_t start, end;
} time_span;

/* From one time to a later one, wherever they are: a state that someone made up may have any. */
static inline uint64_t time_between(int64_t from, int64_t to) {
  return (uint64_t)to - (uint64_t)from;
}
int time_span_order(const void *one, const void *two); /* for qsort: by start, then by end */

typedef struct spanset {
  time_span *spans; /* in memory */
  uint32_t count, capacity;
  uint32_t last_run; /* from here on they are sorted and disjoint; before, there are other such runs */
  spilled_runs runs;
} spanset;

/* These return 0 when there is no memory, or no room for the spill. */

int spanset_put(spanset *set, int64_t start, int64_t end); /* wherever it belongs */
/* An empty span adds nothing. */
static inline int spanset_add(spanset *set, int64_t start, int64_t end) {
  const int has_last = set->count > set->last_run && set->count < set->capacity;
  if (end <= start) return 1;
  if (!has_last || start <= set->spans[set->count - 1].end) return spanset_put(set, start, end);
  set->spans[set->count++] = (time_span){start, end}; /* behind all others, as most are */
  return 1;
}
/* Adds all spans of `from`, which is empty then. */
int spanset_move(spanset *into, spanset *from);
/* Adds what is in `one` but not in `two`. */
int spanset_add_rest(spanset *set, spanset *one, spanset *two);
/* Call this when nothing is added for a while: makes room for other sets. */
int spanset_settle(spanset *set);
static inline int spanset_is_empty(const spanset *set) {
  return !set->count && !set->runs.count;
}
void spanset_free(spanset *set);

/* ---- Reading: the union of some sets, span by span -------------------------------------------------------------------- */

typedef struct span_stream {
  run_merge merge;     /* its is_good: whether all went well */
  const int64_t *next; /* the start and the end of the next span: what a record begins with */
} span_stream;

/* The sets must not change until the stream is closed. Close it even after a failure. */
int span_stream_open(span_stream *stream, spanset *const *sets, uint32_t count);
/* Returns 0 at the end, and after a failure. */
static inline int span_stream_next(span_stream *stream, time_span *span) {
  const int64_t *next = stream->next;
  if (!next) return 0;
  *span = (time_span){next[0], next[1]};
  while ((next = run_merge_next(&stream->merge)) != NULL && next[0] <= span->end) {
    if (next[1] > span->end) span->end = next[1];
  }
  stream->next = next;
  return stream->merge.is_good;
}
void span_stream_close(span_stream *stream);

/* The length of the union of `one`; of the union of `two`; and of what both have in common. */
typedef struct span_lengths {
  uint64_t one, two, common;
} span_lengths;
int span_streams_measure(span_stream *one, span_stream *two, span_lengths *lengths); /* from here on */
int spanset_measure(spanset *const *one, uint32_t one_count, spanset *const *two, uint32_t two_count,
                    span_lengths *lengths);

#endif
