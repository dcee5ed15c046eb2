/* csv.h - events as a table of comma-separated values.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_CSV_H
#define DFTRACER_CSV_H

#include <dftracer/reader.h>

#include "command/cli/progress.h"

/* Writes all events and counters of the reader, without metadata; times in microseconds. Returns 0 or an errno. */
int csv_write(const char *path, dft_reader *reader, progress *shown, uint64_t *events);

#endif
