/* progress.h - how far long work has come: one line on stderr, after two seconds, only on a terminal.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_PROGRESS_H
#define DFTRACER_PROGRESS_H

#include <stdatomic.h>
#include <stdint.h>

/* Fields belong to progress.c. */
typedef struct progress {
  const char *what;
  int is_bytes;
  int is_shown;
  uint64_t total; /* 0: unknown */
  uint64_t begin_ns;
  _Atomic uint64_t done;
  _Atomic uint64_t next_ns; /* when it is to be printed again */
} progress;

/* `what` is a word for the work, such as "summary"; is_bytes: amounts are bytes, else they are counted things. */
void progress_begin(progress *of, const char *what, uint64_t total, int is_bytes);
/* From any thread; cheap enough for every member of a file, too dear for every event. */
void progress_add(progress *of, uint64_t amount);
/* Takes the line away. */
void progress_end(progress *of);

#endif
