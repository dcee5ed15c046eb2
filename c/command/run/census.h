/* census.h - counts the traces that appeared in a folder since an earlier look, and their events.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_CENSUS_H
#define DFTRACER_CENSUS_H

#include <dftracer/dft.h>
#include <sys/stat.h>

typedef struct census_file {
  char *name;
  ino_t inode;
  struct timespec changed;
} census_file;

typedef struct census {
  census_file *files;
  size_t count;
} census;

typedef struct census_result {
  uint64_t events;
  uint64_t dropped;
  uint32_t traces;    /* one per process */
  uint32_t recovered; /* of these */
  uint32_t uncounted; /* of these: in a format whose events are not counted here */
} census_result;

/* Lists the traces in the folder now; none when the folder does not exist. */
void census_take(census *traces, const char *folder);
void census_free(census *traces);

/* Removes what was written at or after `since`. */
void census_forget_newer(census *traces, struct timespec since);

/* Counts the traces that are new or were replaced since `before`. */
void census_compare(const census *before, const char *folder, census_result *result);

#endif
