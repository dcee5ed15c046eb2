/* iostat.c - what I/O calls moved, and in which order.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "job.h"

#define POSITIONS_MAX 4096u /* files whose place a thread remembers */

int io_count(io_stats *into, enum io_kind kind, const moment *event) {
  uint64_t time = (uint64_t)(event->end - event->start);
  int is_transfer = kind == IO_READ || kind == IO_WRITE;
  if (kind == IO_READ) {
    into->reads++;
    job_add(&into->read_ns, time);
    if (event->bytes > 0) job_add(&into->read_bytes, (uint64_t)event->bytes);
  } else if (kind == IO_WRITE) {
    into->writes++;
    job_add(&into->write_ns, time);
    if (event->bytes > 0) job_add(&into->write_bytes, (uint64_t)event->bytes);
  } else {
    into->others++;
    job_add(&into->other_ns, time);
  }
  into->failed += is_transfer && event->bytes < 0;
  return !is_transfer || event->bytes < 0 || histogram_add(&into->sizes, (uint64_t)event->bytes);
}

static int enlarge(thread *of) {
  uint32_t count = of->position_count ? of->position_count * 4 : 16;
  position *more = calloc(count, sizeof *more);
  if (!more) return 0;
  for (uint32_t i = 0; i < of->position_count; i++) {
    if (of->positions[i].file) more[of->positions[i].file & (count - 1)] = of->positions[i];
  }
  free(of->positions);
  of->positions = more;
  of->position_count = count;
  return 1;
}

/* The place of a file; a file that was not used for long may be forgotten. */
static position *position_of(thread *of, uint32_t file) {
  position *at;
  if (!of->position_count && !enlarge(of)) return NULL;
  at = &of->positions[file & (of->position_count - 1)];
  while (at->file && at->file != file && of->position_count < POSITIONS_MAX) {
    if (!enlarge(of)) return NULL;
    at = &of->positions[file & (of->position_count - 1)];
  }
  if (at->file != file) *at = (position){.file = file, .last_end = -1, .next = 0};
  return at;
}

int io_sequence(thread *of, const site *what, const moment *event) {
  position *at;
  int64_t start;
  int result;
  if (!event->file || what->io == IO_OTHER || what->io == IO_COPY || what->io == IO_NONE) return -1;
  at = position_of(of, event->file);
  if (!at) return -1;
  if (what->io == IO_OPEN) {
    *at = (position){.file = event->file, .last_end = -1, .next = 0};
    return -1;
  }
  if (what->io == IO_SEEK) {
    if (event->bytes >= 0) at->next = event->bytes;
    return -1;
  }
  if (event->bytes < 0) return -1;
  start = event->offset >= 0 ? event->offset : at->next;
  result = at->last_end < 0 ? -1 : start == at->last_end;
  at->last_end = event->bytes > INT64_MAX - start ? INT64_MAX : start + event->bytes;
  if (event->offset < 0) at->next = at->last_end;
  return result;
}

int io_merge(io_stats *into, const io_stats *from) {
  into->reads += from->reads;
  into->writes += from->writes;
  into->others += from->others;
  job_add(&into->read_bytes, from->read_bytes);
  job_add(&into->write_bytes, from->write_bytes);
  job_add(&into->read_ns, from->read_ns);
  job_add(&into->write_ns, from->write_ns);
  job_add(&into->other_ns, from->other_ns);
  into->sequential += from->sequential;
  into->random += from->random;
  into->failed += from->failed;
  return histogram_merge(&into->sizes, &from->sizes);
}
