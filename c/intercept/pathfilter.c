/* pathfilter.c - which paths are recorded: DFTRACER_DATA_DIR and DFTRACER_EXCLUDE_DIR.
 *
 * Each setting is a list of folders. Of all folders that a path lies in, the longest decides; of two equal ones, that
 * of the first setting. "all" is the root. A folder in the settings that is reached through links counts under both
 * names.
 * SPDX-License-Identifier: MIT */
#include "pathfilter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "path.h"
#include "session/session.h"
#include "spool/intern.h"
#include "spool/tracefolder.h"
#include "symbol.h"

#define FOLDERS_MOST 64

typedef struct folder {
  uint32_t len; /* without the slash at the end; 0 for the root */
  uint32_t is_wanted;
  uint64_t last; /* its last eight bytes, if it has that many */
  const char *text;
} folder;

typedef struct path_filter {
  uint32_t count;
  uint32_t wanted; /* how many of them are recorded; these come first */
  uint32_t is_all;
  folder folders[FOLDERS_MOST];
  size_t used;
  char texts[8 * PATH_MAX];
} path_filter;

/* A thread that reads a filter while it is replaced goes on with the old one. */
static DFT__LARGE path_filter filters[2];
static _Atomic(const path_filter *) current = &filters[0];

static uint64_t last_of(const char *path, size_t len) {
  uint64_t last = 0;
  if (len >= sizeof last) memcpy(&last, path + len - sizeof last, sizeof last);
  return last;
}

/* Whether a part of the path ends where the folder's name does, with the same last bytes. The path is not shorter. */
static inline int ends_at(const char *path, size_t len, const folder *outer) {
  return (len == outer->len || path[outer->len] == '/') && last_of(path, outer->len) == outer->last;
}

static inline int is_inside(const char *path, size_t len, const folder *outer) {
  return len >= outer->len && ends_at(path, len, outer) && dft__same_bytes(path, outer->text, outer->len);
}

static int ends_with(const char *path, size_t len, const char *end, size_t end_len) {
  return len >= end_len && memcmp(path + len - end_len, end, end_len) == 0;
}

/* Nobody wants to see traces in a trace. */
static int is_trace(const char *path, size_t len) {
  if (path[len - 1] != 'w' && path[len - 1] != 'z') return 0;
  return ends_with(path, len, ".pfw", 4) || ends_with(path, len, ".pfw.gz", 7);
}

/* The longest of these folders that the path lies in, if it is longer than `best`; otherwise `best`. */
static inline const folder *innermost(const folder *first, uint32_t count, const char *path, size_t len,
                                      const folder *best) {
  for (const folder *one = first; one < first + count; one++) {
    if (is_inside(path, len, one) && (!best || one->len > best->len)) best = one;
  }
  return best;
}

/* Whether a recorded folder lies below the path. */
static int has_below(const path_filter *now, const char *path, size_t len) {
  for (uint32_t i = 0; i < now->wanted; i++) {
    const folder *one = &now->folders[i];
    if (one->len > len && (len == 1 || one->text[len] == '/') && dft__same_bytes(one->text, path, len)) return 1;
  }
  return 0;
}

__attribute__((noinline)) static enum dft__wanted judge_closely(const path_filter *now, const char *path, size_t len) {
  const folder *best = innermost(now->folders, now->wanted, path, len, NULL);
  if (best) best = innermost(now->folders + now->wanted, now->count - now->wanted, path, len, best);
  if (best && best->is_wanted && !is_trace(path, len)) return DFT__WANTED;
  return has_below(now, path, len) ? DFT__WANTED_BELOW : DFT__WANTED_NOT;
}

/* Most paths differ from every recorded folder in the bytes where its name would end. */
static inline int is_apart(const path_filter *now, const char *path, size_t len) {
  for (const folder *one = now->folders; one < now->folders + now->wanted; one++) {
    if (one->len > len || ends_at(path, len, one)) return 0;
  }
  return 1;
}

enum dft__wanted dft__filter_judge(const char *path, size_t len) {
  const path_filter *now = DFT__ACQUIRE(current);
  return is_apart(now, path, len) ? DFT__WANTED_NOT : judge_closely(now, path, len);
}

/* The kernel has read at most PATH_MAX bytes of the path. */
size_t dft__filter_look(const char *path) {
  size_t len;
  if (path[0] != '/') return PATH_MAX;
  len = strnlen(path, PATH_MAX);
  if (len == PATH_MAX || !is_apart(DFT__ACQUIRE(current), path, len)) return len;
  return dft__path_is_plain(path, len) ? 0 : len;
}

int dft__filter_is_all(void) {
  return (int)DFT__ACQUIRE(current)->is_all;
}

/* ---- Making one --------------------------------------------------------------------------------------------------- */

static void add(path_filter *to, const char *text, size_t len, int is_wanted) {
  char *kept = to->texts + to->used;
  while (len && text[len - 1] == '/') len--;
  if (to->count == FOLDERS_MOST || len >= sizeof to->texts - to->used) return;
  for (uint32_t i = 0; i < to->count; i++) {
    if (to->folders[i].len == len && memcmp(to->folders[i].text, text, len) == 0) return; /* the first setting counts */
  }
  memcpy(kept, text, len);
  to->used += len;
  to->folders[to->count++] = (folder){(uint32_t)len, (uint32_t)is_wanted, last_of(text, len), kept};
  if (!len && is_wanted) to->is_all = 1;
}

/* Adds a folder under the name it was given, and under the one it really has. */
static void add_named(path_filter *to, const char *name, int is_wanted) {
  char text[DFT__IO_PATH];
  char real[PATH_MAX];
  if (strcmp(name, "all") == 0) {
    add(to, "/", 1, is_wanted);
    return;
  }
  add(to, text, dft__path_absolute(AT_FDCWD, name, text, sizeof text), is_wanted);
  if (realpath(name, real)) add(to, real, strlen(real), is_wanted);
}

static void add_list(path_filter *to, const char *list, int is_wanted) {
  char name[PATH_MAX];
  while (*list) {
    size_t len = strcspn(list, ":");
    if (len && len < sizeof name) {
      memcpy(name, list, len);
      name[len] = '\0';
      add_named(to, name, is_wanted);
    }
    list += len + (list[len] == ':');
  }
}

int dft__filter_make(void) {
  const char *wanted = dft__config_text(DFT__DATA_DIR);
  path_filter *fresh = DFT__GET(current) == &filters[0] ? &filters[1] : &filters[0];
  fresh->count = fresh->is_all = 0;
  fresh->used = 0;
  if (!*wanted && dft__io_is_preloaded()) wanted = "all";
  add_list(fresh, wanted, 1);
  fresh->wanted = fresh->count;
  add_list(fresh, dft__config_text(DFT__EXCLUDE_DIR), 0);
  if (dft__session.is_open) {
    const dft__spool *spool = dft__session.spool;
    char inner[DFT__PATH_MAX];
    if (dft__tracefolder_inner(inner, sizeof inner, spool->header->folder, spool->inner))
      add(fresh, inner, strlen(inner), 0);
  }
  DFT__RELEASE(current, fresh);
  return fresh->count > 0 && *wanted;
}
