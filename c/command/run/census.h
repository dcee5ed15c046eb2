/* census.h - which traces appeared in a folder between two moments, and what is in them.
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
  uint32_t traces;    /* one a process */
  uint32_t recovered; /* of these */
  uint32_t uncounted; /* of these: in a format that this does not look into */
} census_result;

/* The traces in the folder now; none when it is not there. */
void census_take(census *of, const char *folder);
void census_free(census *of);

/* Takes out what was written from `since` on. */
void census_forget_newer(census *of, struct timespec since);

/* Those that are new or replaced since then. */
void census_compare(const census *before, const char *folder, census_result *result);

#endif
