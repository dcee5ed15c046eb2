/* plain.h - whether a path is to be taken as it is written.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PLAIN_H
#define DFT_PLAIN_H

#include <string.h>

#include "base/atomic.h"

/* Whether a part at `part`, behind a slash, is empty, "." or "..". */
static inline int dft__part_is_odd(const char *part) {
  if (*part == '.') part += part[1] == '.' ? 2 : 1;
  return *part == '/' || *part == '\0';
}

/* Sixteen characters at once. */
typedef unsigned char dft__block __attribute__((vector_size(16)));

static inline dft__block dft__block_load(const char *at) {
  dft__block bytes;
  memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

/* Where a slash has a slash or a dot behind it, which differ in the lowest bit. */
static inline dft__block dft__block_suspects(const char *at) {
  return (dft__block)(dft__block_load(at) == '/') & (dft__block)((dft__block_load(at + 1) | 1) == '/');
}

/* Whether all parts of a path are names. */
static inline int dft__path_is_plain(const char *path, size_t len) {
  if (!len || path[len - 1] == '/' || (path[0] != '/' && dft__part_is_odd(path))) return 0;
  if (len >= sizeof(dft__block)) {
    dft__block found = dft__block_suspects(path + len - sizeof(dft__block));
    uint64_t words[2];
    for (size_t at = 0; at + sizeof(dft__block) < len; at += sizeof(dft__block))
      found |= dft__block_suspects(path + at);
    memcpy(words, &found, sizeof words);
    if (DFT__LIKELY(!(words[0] | words[1]))) return 1;
  }
  for (size_t at = 0; at < len; at++) {
    if (path[at] == '/' && dft__part_is_odd(path + at + 1)) return 0;
  }
  return 1;
}

#endif
