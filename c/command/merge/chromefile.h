/* chromefile.h - reads Chrome's trace format, as torch.profiler and others write it, event by event.
 *
 * An object with "traceEvents", or an array of events, which need not be closed; plain or gzip. Memory is that of the
 * largest event. Events that are no JSON are left out and counted; where the structure itself is
 * broken the reading ends with a message, and what was read before counts.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_CHROMEFILE_H
#define DFTRACER_CHROMEFILE_H

#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#define CHROME_KEYS 32

/* A piece of the text. */
typedef struct chrome_span {
  const char *text;
  size_t len;
} chrome_span;

/* The members of one event, as they stand; keys without their quotes. */
typedef struct chrome_event {
  uint32_t count;
  chrome_span key[CHROME_KEYS];
  chrome_span value[CHROME_KEYS];
} chrome_event;

typedef struct chromefile {
  gzFile file;
  char *text;
  size_t at, len, room;
  uint64_t read_bytes; /* inflated */
  int is_inside;       /* the events */
  int is_object;
  int has_list;      /* of events */
  char problem[128]; /* empty: none */
  uint64_t left_out; /* events that are no JSON, or have more than CHROME_KEYS members */
  /* facts of the object */
  int64_t base_ns; /* added to all times */
  int32_t rank;    /* -1: not told */
} chromefile;

/* Zero when it cannot be opened; errno tells. */
int chromefile_open(chromefile *of, const char *path);
/* The next event; zero at the end. Spans are valid until the next call. */
int chromefile_next(chromefile *of, chrome_event *event);
void chromefile_close(chromefile *of);

/* NULL when the event has no such member. */
const chrome_span *chrome_member(const chrome_event *event, const char *key);
int chrome_is_text(const chrome_span *value, const char *text);
/* A number of microseconds with decimals as nanoseconds; zero when it is none. */
int chrome_time(const chrome_span *value, int64_t *ns);

#endif
