/* strict.h - checks that a line is one JSON object as the format requires: strict, compact, UTF-8.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_STRICT_H
#define DFTRACER_STRICT_H

#include <stddef.h>

/* The keys of an event, in their order. */
enum strict_key {
  STRICT_ID,
  STRICT_NAME,
  STRICT_CAT,
  STRICT_PID,
  STRICT_TID,
  STRICT_TS,
  STRICT_DUR,
  STRICT_PH,
  STRICT_ARGS,
  STRICT_KEYS
};

/* A part of the line; text NULL: there is none. */
typedef struct strict_value {
  const char *text;
  size_t len;
} strict_value;

typedef struct strict_finding {
  int is_bad;   /* not a JSON object */
  int is_loose; /* blanks outside of strings */
  int has_bad_utf8;
  int has_surrogate; /* \ud800 to \udfff */
  int is_nested;     /* an array, or an object inside args */
  int has_two_of_one_key;
  int is_disordered; /* keys of an event in another order, or with others between them */
  strict_value values[STRICT_KEYS];
} strict_finding;

strict_finding strict_check(const char *line, size_t len);

#endif
