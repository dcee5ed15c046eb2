/* suffix.h - what the name of a file says of its contents.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SUFFIX_H
#define DFTRACER_SUFFIX_H

#include <string.h>

/* Not when the name is nothing else. */
static inline int ends_with(const char *name, const char *end) {
  size_t len = strlen(name);
  return len > strlen(end) && strcmp(name + len - strlen(end), end) == 0;
}

#endif
