/* heldfolder.c - a trace folder that an operation has in hand, so that nobody can put another one in its place.
 * SPDX-License-Identifier: MIT */
#include "heldfolder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Thread_local const dft__held *held;

void dft__held_begin(dft__held *folder) {
  folder->before = held;
  held = folder;
}

void dft__held_end(const dft__held *folder) {
  held = folder->before;
}

int dft__held_place(const char *path, const char **name) {
  const char *slash = strrchr(path, '/');
  size_t len = slash ? (size_t)(slash - path) : 0;
  size_t outer = held ? strlen(held->folder) : 0, inner = held ? strlen(held->hidden) : 0;
  *name = path;
  if (!held || len < outer || memcmp(path, held->folder, outer) != 0) return AT_FDCWD;
  if (len != outer &&
      (len != outer + 1 + inner || path[outer] != '/' || memcmp(path + outer + 1, held->hidden, inner) != 0))
    return AT_FDCWD;
  *name = slash + 1;
  return len == outer ? held->outer : held->inner;
}

int dft__held_open(const char *path, int flags, mode_t mode) {
  const char *name;
  int at = dft__held_place(path, &name);
  return openat(at, name, flags | O_NOFOLLOW, mode);
}

int dft__held_stat(const char *path, struct stat *facts) {
  const char *name;
  int at = dft__held_place(path, &name);
  return fstatat(at, name, facts, AT_SYMLINK_NOFOLLOW);
}

int dft__held_unlink(const char *path) {
  const char *name;
  int at = dft__held_place(path, &name);
  return unlinkat(at, name, 0);
}

int dft__held_rmdir(const char *path) {
  const char *name;
  int at = dft__held_place(path, &name);
  return unlinkat(at, name, AT_REMOVEDIR);
}

int dft__held_rename(const char *from, const char *to) {
  const char *old_name, *new_name;
  int old_at = dft__held_place(from, &old_name), new_at = dft__held_place(to, &new_name);
  return renameat(old_at, old_name, new_at, new_name);
}

int dft__held_rename_new(const char *from, const char *to) {
  const char *old_name, *new_name;
  int old_at = dft__held_place(from, &old_name), new_at = dft__held_place(to, &new_name);
#ifdef SYS_renameat2
  if (syscall(SYS_renameat2, old_at, old_name, new_at, new_name, 1 /* RENAME_NOREPLACE */) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
#endif
  if (linkat(old_at, old_name, new_at, new_name, 0) != 0) return -1;
  return unlinkat(old_at, old_name, 0);
}
