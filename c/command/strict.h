/* strict.h - whether a line is one JSON object as the format wants it: strict, compact, UTF-8.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_STRICT_H
#define DFTRACER_STRICT_H

#include <stddef.h>

typedef struct strict_finding {
  int is_bad;   /* no JSON object */
  int is_loose; /* blanks outside of texts */
  int has_bad_utf8;
  int has_surrogate; /* \ud800 to \udfff */
  int is_nested;     /* an array, or an object inside args */
  int has_two_of_one_key;
} strict_finding;

strict_finding strict_check(const char *line, size_t len);

#endif
