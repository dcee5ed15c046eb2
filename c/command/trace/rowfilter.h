/* rowfilter.h - which rows are meant: --name, --cat, --pid, --tid, --from, --to, for the commands that have these.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_FILTER_H
#define DFTRACER_FILTER_H

#include <dftracer/reader.h>

#include "command/cli/arguments.h"

#define FILTER_PATTERNS 64

enum {
  FILTER_NAME = OPTION_LONG + 100,
  FILTER_CAT,
  FILTER_PID,
  FILTER_TID,
  FILTER_FROM,
  FILTER_TO,
};

/* The rows of an option table. */
#define FILTER_OPTIONS                                                                                       \
  {FILTER_NAME, "name", "PATTERN", "only events of this name; * and ? stand for anything; may be repeated"}, \
    {FILTER_CAT, "cat", "PATTERN", "only events of this category; may be repeated"},                         \
    {FILTER_PID, "pid", "N", "only this process"}, {FILTER_TID, "tid", "N", "only this thread"},             \
    {FILTER_FROM, "from", "TIME",                                                                            \
     "only events that start at or after TIME, such as 10s or 250ms after the first event"},                 \
    {FILTER_TO, "to", "TIME", "only events that start before TIME"},

typedef struct filter {
  const char *names[FILTER_PATTERNS], *cats[FILTER_PATTERNS];
  int name_count, cat_count;
  int has_pid, has_tid, has_from, has_to;
  uint64_t pid, tid;
  int64_t from_ns, to_ns; /* since the first event */
  int64_t origin;
} filter;

/* 1 it was an option of the filter, 0 it is another one, -1 its value is wrong and given->status says so. */
int filter_option(filter *of, arguments *given, int key);
/* When times were given: finds the first event. 0: no memory. */
int filter_prepare(filter *of, dft_reader *reader);
int filter_takes(const filter *of, dft_reader *reader, const dft_rows *rows, uint32_t row);

/* The earliest event `start` of all sources, in those without one their earliest event; 0 when there is none. INT64_MIN:
 * no memory. */
int64_t filter_origin(dft_reader *reader);

#endif
