/* progress.h - shows the progress of long work: one line on stderr, after two seconds, only on a terminal.
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
  _Atomic uint64_t next_ns; /* time of the next print; UINT64_MAX: never */
} progress;

/* `what` names the work, such as "summary"; is_bytes: amounts are bytes, otherwise they are counts. */
void progress_begin(progress *work, const char *what, uint64_t total, int is_bytes);
/* From any thread. Cheap enough to call for every member of a file, too expensive for every event. */
void progress_add(progress *work, uint64_t amount);
/* Clears the line. */
void progress_end(progress *work);

#endif
