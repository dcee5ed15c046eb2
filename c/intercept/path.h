/* path.h - absolute paths without "." and "..", as the kernel would resolve them.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PATH_H
#define DFT_PATH_H

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "base/atomic.h"

#define DFT__IO_PATH ((size_t)PATH_MAX + NAME_MAX) /* room for the text of one path */
#define DFT__AS_IT_IS (-2000)                      /* in place of a folder's descriptor: keep the text as it is */

/* Writes the absolute path, not terminated and cut to DFT__IO_PATH. Returns its length; 0 when it cannot be known; DFT__PATH_DEEP
 * when it needs all of DFT__IO_PATH, and `room` is less. */
size_t dft__path_absolute(int dir, const char *path, char *text, size_t room);
#define DFT__PATH_DEEP SIZE_MAX

/* Calls `use` with the absolute path, or with that of the file behind `dir` where `path` is NULL. Few paths take more than a few
 * hundred bytes of the caller's stack: the others are looked up aside. `len` is 0 when the path cannot be known. */
typedef void dft__path_use(const char *text, size_t len, void *context);
void dft__path_with(int dir, const char *path, dft__path_use *use, void *context);

/* Forgets the working folder. */
void dft__path_changed_cwd(void);
/* Whether it can be read up to its end, or PATH_MAX. Leaves errno alone. */
int dft__path_is_readable(const char *path);
/* Names an open descriptor (/dev/stdin, /proc/self/fd/3) or leads through one, so its file may be anywhere. */
int dft__path_is_of_fd(const char *path);

/* ---- Normalised paths: no part is empty, "." or ".." ---- */

/* `part` stands behind a slash. */
static inline int dft__part_is_odd(const char *part) {
  if (*part == '.') part += part[1] == '.' ? 2 : 1;
  return *part == '/' || *part == '\0';
}

/* Sixteen characters at once. */
typedef unsigned char dft__path_block __attribute__((vector_size(16)));

static inline dft__path_block dft__path_block_load(const char *at) {
  dft__path_block bytes;
  memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

/* Marks each slash that a slash or a dot follows; the two differ in the lowest bit. */
static inline dft__path_block dft__path_block_suspects(const char *at) {
  return (dft__path_block)(dft__path_block_load(at) == '/') &
         (dft__path_block)((dft__path_block_load(at + 1) | 1) == '/');
}

static inline int dft__path_is_plain(const char *path, size_t len) {
  if (!len || path[len - 1] == '/' || (path[0] != '/' && dft__part_is_odd(path))) return 0;
  if (len >= sizeof(dft__path_block)) {
    dft__path_block found = dft__path_block_suspects(path + len - sizeof(dft__path_block));
    uint64_t words[2];
    for (size_t at = 0; at + sizeof(dft__path_block) < len; at += sizeof(dft__path_block))
      found |= dft__path_block_suspects(path + at);
    memcpy(words, &found, sizeof words);
    if (DFT__LIKELY(!(words[0] | words[1]))) return 1;
  }
  for (size_t at = 0; at < len; at++) {
    if (path[at] == '/' && dft__part_is_odd(path + at + 1)) return 0;
  }
  return 1;
}

#endif
