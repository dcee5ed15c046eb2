/* selection.h - selects rows by the options --name, --cat, --pid, --tid, --from and --to.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SELECTION_H
#define DFTRACER_SELECTION_H

#include <dftracer/reader.h>

#include "command/cli/arguments.h"

#define SELECTION_PATTERNS 64

enum {
  SELECTION_NAME = OPTION_LONG + 100,
  SELECTION_CAT,
  SELECTION_PID,
  SELECTION_TID,
  SELECTION_FROM,
  SELECTION_TO,
};

/* The rows of an option table. */
#define SELECTION_OPTIONS                                                                                    \
  {SELECTION_NAME, "name", "PATTERN", "only events with this name; * and ? are wildcards; may be repeated"}, \
    {SELECTION_CAT, "cat", "PATTERN", "only events of this category; may be repeated"},                      \
    {SELECTION_PID, "pid", "N", "only events of this process"},                                              \
    {SELECTION_TID, "tid", "N", "only events of this thread"},                                               \
    {SELECTION_FROM, "from", "TIME",                                                                         \
     "only events that start at or after TIME, counted from the first event, such as 10s or 250ms"},         \
    {SELECTION_TO, "to", "TIME", "only events that start before TIME"},

typedef struct selection {
  const char *names[SELECTION_PATTERNS], *cats[SELECTION_PATTERNS];
  int name_count, cat_count;
  int has_pid, has_tid, has_from, has_to;
  uint64_t pid, tid;
  int64_t from_ns, to_ns; /* since the first event */
  int64_t origin;
} selection;

/* 1: the option belongs to the selection; 0: it does not; -1: its value is wrong, return given->status. */
int selection_option(selection *wanted, arguments *given, int key);
/* Call before selection_takes. Finds the first event if times were given. 0: no memory. */
int selection_prepare(selection *wanted, dft_reader *reader);
int selection_takes(const selection *wanted, dft_reader *reader, const dft_rows *rows, uint32_t row);

#endif
