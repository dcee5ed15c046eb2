/* chromefile.h - reads Chrome's trace format, as torch.profiler and others write it, event by event.
 *
 * The file is an object with "traceEvents", or an array of events, which may lack its closing bracket. It is plain or gzip.
 * Memory is bounded by the largest event. Events that are not valid JSON are skipped and counted. If the structure itself is
 * broken, reading ends with a message, and the events before that place count.
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

/* The members of one event as they are in the text; keys without their quotes. */
typedef struct chrome_event {
  uint32_t count;
  chrome_span key[CHROME_KEYS];
  chrome_span value[CHROME_KEYS];
} chrome_event;

typedef struct chromefile {
  gzFile stream;
  char *text;
  size_t at, len, room;
  uint64_t read_bytes; /* inflated */
  int is_inside;       /* the events */
  int is_object;
  int has_list;      /* of events */
  char problem[128]; /* why reading ended early; empty: no problem */
  uint64_t left_out; /* events that are not valid JSON, or have more than CHROME_KEYS members */
  /* facts of the object */
  int64_t base_ns; /* added to all times */
  int32_t rank;    /* -1: unknown */
} chromefile;

/* Whether the file is in this format, rather than a trace with one event per line. The suffix of a trace is believed. An array of
 * events can be both, so its name decides; without a name (NULL), whether its lines are events. */
int chromefile_is(const char *path, const char *name);
/* Zero, with errno, when it cannot be opened. */
int chromefile_open(chromefile *file, const char *path);
/* The next event; zero at the end. Spans are valid until the next call. */
int chromefile_next(chromefile *file, chrome_event *event);
void chromefile_close(chromefile *file);

/* NULL when the event has no such member. */
const chrome_span *chrome_member(const chrome_event *event, const char *key);
int chrome_is_text(const chrome_span *value, const char *text);
int chrome_is_number(const chrome_span *value);
/* The number; for a text, a number made from it that no process and no thread has. */
uint64_t chrome_number(const chrome_span *value);
/* Converts microseconds with decimals to nanoseconds; zero when the value is not a number. */
int chrome_time(const chrome_span *value, int64_t *ns);
/* The same of a time that counts from base_ns; zero also if there is none, or it is too far from 1970. */
int chrome_moment(const chrome_span *value, int64_t base_ns, int64_t *ns);

#endif
