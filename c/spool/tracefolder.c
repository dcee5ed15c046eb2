/* tracefolder.c - the hidden folder of one user beside the traces, and the names in it.
 * SPDX-License-Identifier: MIT */
#include "tracefolder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER DFT_SPOOL_FOLDER
#define SUFFIX DFT_SPOOL_SUFFIX

static const char *or_first(const char *inner) {
  return inner[0] ? inner : FOLDER;
}

static int fits(int len, size_t size) {
  return len > 0 && (size_t)len < size;
}

/* ---- The hidden folder of a user -------------------------------------------------------------------------------------- */

int dft_spool_is_folder(const char *name) {
  size_t len = sizeof FOLDER - 1;
  if (strncmp(name, FOLDER, len) != 0) return 0;
  if (!name[len]) return 1;
  return name[len] == '-' && name[len + 1] && strlen(name) < DFT__INNER_BYTES &&
         !name[len + 1 + strspn(name + len + 1, "0123456789")];
}

int dft__tracefolder_name(char inner[DFT__INNER_BYTES], int number) {
  if (number == 0) snprintf(inner, DFT__INNER_BYTES, FOLDER);
  if (number == 1) snprintf(inner, DFT__INNER_BYTES, FOLDER "-%u", (unsigned)geteuid());
  return number < 2;
}

/* Only descriptors through which files are found: a folder that may be searched need not be readable. */
#define FOLDER_FLAGS (O_PATH | O_DIRECTORY | O_CLOEXEC)

/* Opens a real folder, and tells whose it is. -1 and errno: EPERM when it is something else. */
static int open_inner(int outer, const char *inner, struct stat *facts) {
  int fd = openat(outer, inner, FOLDER_FLAGS | O_NOFOLLOW);
  if (fd < 0) {
    if (errno == ELOOP || errno == ENOTDIR) errno = EPERM;
    return -1;
  }
  if (fstat(fd, facts) == 0) return fd;
  close(fd);
  return -1;
}

/* Who owns what this user makes in the folder: on some file systems, and for root on a network, somebody else. */
static int owner_here(int outer, uid_t *owner) {
  char name[sizeof FOLDER "-new-" + 12];
  struct stat facts;
  int is_known;
  snprintf(name, sizeof name, FOLDER "-new-%d", (int)getpid());
  if (mkdirat(outer, name, 0700) != 0) return 0;
  is_known = fstatat(outer, name, &facts, AT_SYMLINK_NOFOLLOW) == 0;
  if (is_known) *owner = facts.st_uid;
  unlinkat(outer, name, AT_REMOVEDIR);
  return is_known;
}

/* Finds this user's hidden folder, or makes it: a descriptor. -1 and errno. */
static int make_inner(int outer, char inner[DFT__INNER_BYTES]) {
  struct stat facts;
  uid_t here;
  int fd, first = -1, error = EPERM;
  /* As long as it is there, another process may have claimed a name in it, which must not be claimed again in .dftracer. */
  dft__tracefolder_name(inner, 1);
  fd = open_inner(outer, inner, &facts);
  if (fd >= 0 && facts.st_uid == geteuid()) return fd;
  if (fd >= 0) close(fd);
  for (int number = 0; dft__tracefolder_name(inner, number); number++) {
    fd = open_inner(outer, inner, &facts);
    if (fd < 0 && errno == ENOENT && (mkdirat(outer, inner, 0777) == 0 || errno == EEXIST))
      fd = open_inner(outer, inner, &facts);
    if (fd < 0 && errno == EPERM) continue;
    if (fd < 0) {
      error = errno;
      break;
    }
    if (facts.st_uid == geteuid()) {
      if (first >= 0) close(first);
      return fd;
    }
    if (number == 0) {
      first = fd;
      continue;
    }
    close(fd);
    unlinkat(outer, inner, AT_REMOVEDIR); /* made just now, and given to another owner at once */
  }
  if (first >= 0 && error == EPERM && fstat(first, &facts) == 0 && owner_here(outer, &here) && here == facts.st_uid) {
    dft__tracefolder_name(inner, 0);
    return first;
  }
  if (first >= 0) close(first);
  errno = error;
  return -1;
}

/* ---- Entering it ------------------------------------------------------------------------------------------------------ */

/* Whatever was opened; zero, and errno stays, when that is not everything. */
static int hold(dft__tracefolder *own, const char *folder, const char *inner, int outer_fd, int inner_fd) {
  int error = errno;
  if (inner_fd < 0 && outer_fd >= 0) close(outer_fd);
  *own = (dft__tracefolder){
    .folder = folder, .hidden = or_first(inner), .outer = inner_fd < 0 ? -1 : outer_fd, .inner = inner_fd};
  dft__held_begin(own);
  errno = error;
  return inner_fd >= 0;
}

int dft__tracefolder_make(dft__tracefolder *own, char inner[DFT__INNER_BYTES], const char *folder) {
  int outer = open(folder, FOLDER_FLAGS);
  return hold(own, folder, inner, outer, outer < 0 ? -1 : make_inner(outer, inner));
}

/* Closes it, unless it is the right one; then -1 and the error. */
static int keep_if(int is_right, int fd, int error) {
  if (is_right) return fd;
  close(fd);
  errno = error;
  return -1;
}

int dft__tracefolder_enter(dft__tracefolder *own, const char *folder, const char *inner) {
  struct stat facts;
  int outer = open(folder, FOLDER_FLAGS);
  int fd = outer < 0 ? -1 : open_inner(outer, or_first(inner), &facts);
  if (fd >= 0) fd = keep_if(facts.st_uid == geteuid(), fd, EPERM);
  return hold(own, folder, inner, outer, fd);
}

int dft__tracefolder_return(dft__tracefolder *own, const dft__spool *spool) {
  struct stat facts;
  int outer = open(spool->header->folder, FOLDER_FLAGS);
  int fd = outer < 0 ? -1 : open_inner(outer, or_first(spool->inner), &facts);
  if (fd >= 0) fd = keep_if(facts.st_ino == spool->folder_inode && facts.st_dev == spool->folder_device, fd, ENOENT);
  return hold(own, spool->header->folder, spool->inner, outer, fd);
}

void dft__tracefolder_leave(const dft__tracefolder *own) {
  int error = errno;
  dft__held_end(own);
  if (own->inner >= 0) close(own->inner);
  if (own->outer >= 0) close(own->outer);
  errno = error;
}

void dft__tracefolder_remember(const dft__tracefolder *own, dft__spool *spool) {
  struct stat facts;
  if (fstat(own->inner, &facts) != 0) return;
  spool->folder_device = facts.st_dev;
  spool->folder_inode = facts.st_ino;
}

DIR *dft__tracefolder_list(const dft__tracefolder *own) {
  int fd = openat(own->inner, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = fd < 0 ? NULL : fdopendir(fd);
  if (fd >= 0 && !entries) close(fd);
  return entries;
}

static uint32_t count_claims(int fd) {
  DIR *entries = fd < 0 ? NULL : fdopendir(fd);
  const struct dirent *entry;
  uint32_t count = 0;
  if (!entries) {
    if (fd >= 0) close(fd);
    return 1;
  }
  while ((entry = readdir(entries)) != NULL) count += dft__tracefolder_base_len(entry->d_name) > 0;
  closedir(entries);
  return count;
}

uint32_t dft__tracefolder_count_others(const char *folder) {
  DIR *entries = opendir(folder);
  const struct dirent *entry;
  struct stat facts;
  uint32_t count = 0;
  while (entries && (entry = readdir(entries)) != NULL) {
    int at = dirfd(entries);
    if (!dft_spool_is_folder(entry->d_name) || fstatat(at, entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (facts.st_uid == geteuid() && S_ISDIR(facts.st_mode)) continue;
    count += count_claims(openat(at, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  if (entries) closedir(entries);
  return count;
}

/* ---- Names ------------------------------------------------------------------------------------------------------------ */

int dft__tracefolder_inner(char *path, size_t size, const char *folder, const char *inner) {
  return fits(snprintf(path, size, "%s/%s", folder, or_first(inner)), size);
}

int dft__tracefolder_claim(char *path, size_t size, const char *folder, const char *inner, const char *base) {
  return fits(snprintf(path, size, "%s/%s/%s" SUFFIX, folder, or_first(inner), base), size);
}

int dft__tracefolder_live(char *path, size_t size, const char *folder, const char *inner, const char *base,
                          uint32_t index, const char *sink) {
  return fits(snprintf(path, size, "%s/%s/%s.%u-%s", folder, or_first(inner), base, index, sink), size);
}

int dft__tracefolder_live_beside(char *path, size_t size, const char *claim, const char *base, uint32_t index,
                                 const char *sink) {
  const char *slash = strrchr(claim, '/');
  int len = slash ? (int)(slash + 1 - claim) : 0;
  return fits(snprintf(path, size, "%.*s%s.%u-%s", len, claim, base, index, sink), size);
}

size_t dft__tracefolder_base_len(const char *name) {
  size_t len = strlen(name), end = sizeof SUFFIX - 1;
  return len > end && strcmp(name + len - end, SUFFIX) == 0 ? len - end : 0;
}

int dft__tracefolder_is_inner(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash && slash > path && dft_spool_is_folder(slash + 1);
}

size_t dft__tracefolder_folder_len(const char *claim, char inner[DFT__INNER_BYTES]) {
  const char *end = strrchr(claim, '/');
  const char *start = end ? memrchr(claim, '/', (size_t)(end - claim)) : NULL;
  char name[DFT__INNER_BYTES];
  if (!start || start == claim || !dft__tracefolder_base_len(end + 1)) return 0;
  if (!fits(snprintf(name, sizeof name, "%.*s", (int)(end - start - 1), start + 1), sizeof name)) return 0;
  if (!dft_spool_is_folder(name)) return 0;
  if (inner) memcpy(inner, name, sizeof name);
  return (size_t)(start - claim);
}

int dft__tracefolder_find_live(const dft__tracefolder *own, const char *claim, uint32_t index, char sink[256]) {
  char start[300];
  const char *slash = strrchr(claim, '/');
  const struct dirent *entry;
  DIR *entries = dft__tracefolder_list(own);
  size_t len = (size_t)snprintf(start, sizeof start, "%.*s.%u-", (int)dft__tracefolder_base_len(slash + 1), slash + 1,
                                index);
  sink[0] = '\0';
  while (entries && (entry = readdir(entries)) != NULL) {
    const char *name = entry->d_name;
    if (strncmp(name, start, len) != 0 || !name[len]) continue;
    if (!sink[0] || strlen(name + len) < strlen(sink)) snprintf(sink, 256, "%s", name + len);
  }
  if (entries) closedir(entries);
  return !entries || sink[0] != '\0';
}
