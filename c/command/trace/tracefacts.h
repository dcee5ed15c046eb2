/* tracefacts.h - what one trace says about the process that wrote it, and how much it holds. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TRACEFACTS_H
#define DFTRACER_TRACEFACTS_H

#include <dftracer/reader.h>

typedef struct trace_facts {
  dft_source source;
  const char *name; /* of the file, as it was given */
  uint64_t bytes;   /* of that file */
  uint64_t events, counters, metadata, threads;
  uint64_t pid;
  int32_t rank; /* -1: unknown */
  uint32_t host;
  int64_t first, last; /* ns */
  uint64_t dropped;
  int is_ended, is_recovered;
  int is_chrome;  /* in Chrome's format, which has no end */
  int is_running; /* the process still records */
  char command[4096], executable[512], version[64], date[64], folder[4096], run[64];
} trace_facts;

/* Reads one source. 0: no memory. */
int tracefacts_read(trace_facts *facts, dft_reader *reader, uint32_t source);
/* Whether it is the spool of a process that died, which nobody has recovered yet: reading it ends it as recovery will. */
int tracefacts_is_left(const trace_facts *facts);
/* Whether the source has lines, but is no trace. */
int tracefacts_is_refused(const trace_facts *facts);

#endif
