/* suffix.h - tests how a file name ends.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SUFFIX_H
#define DFTRACER_SUFFIX_H

#include <string.h>

/* False when the name consists of the ending alone. */
static inline int ends_with(const char *name, const char *end) {
  size_t len = strlen(name);
  return len > strlen(end) && strcmp(name + len - strlen(end), end) == 0;
}

#endif
