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

/* The owner of a real folder. Zero when it is something else; then errno is EPERM. */
static int owner_of(const char *path, uid_t *owner) {
  struct stat facts;
  if (lstat(path, &facts) != 0) return 0;
  *owner = facts.st_uid;
  if (!S_ISDIR(facts.st_mode)) errno = EPERM;
  return S_ISDIR(facts.st_mode);
}

/* Who owns what this user makes in the folder: on some file systems, and for root on a network, somebody else. */
static int owner_here(const char *folder, uid_t *owner) {
  char path[DFT__PATH_MAX];
  int is_known;
  if (!fits(snprintf(path, sizeof path, "%s/" FOLDER "-new-%d", folder, (int)getpid()), sizeof path)) return 0;
  if (mkdir(path, 0700) != 0) return 0;
  is_known = owner_of(path, owner);
  rmdir(path);
  return is_known;
}

int dft__tracefolder_make(char inner[DFT__INNER_BYTES], const char *folder) {
  char path[DFT__PATH_MAX];
  uid_t owner, first = geteuid(), here;
  int is_folder = 0;
  /* As long as it is there, another process may have claimed a name in it, which must not be claimed again in .dftracer. */
  dft__tracefolder_name(inner, 1);
  if (dft__tracefolder_inner(path, sizeof path, folder, inner) && owner_of(path, &owner) && owner == geteuid())
    return 1;
  for (int number = 0; dft__tracefolder_name(inner, number); number++) {
    if (!dft__tracefolder_inner(path, sizeof path, folder, inner)) {
      errno = ENAMETOOLONG;
      return 0;
    }
    if (!owner_of(path, &owner) && errno == ENOENT && mkdir(path, 0777) != 0 && errno != EEXIST) return 0;
    if (!owner_of(path, &owner)) {
      if (errno != EPERM) return 0;
    } else if (owner == geteuid()) {
      return 1;
    } else if (number == 0) {
      is_folder = 1;
      first = owner;
    } else {
      rmdir(path); /* made just now, and given to another owner at once */
    }
  }
  dft__tracefolder_name(inner, 0);
  if (is_folder && owner_here(folder, &here) && here == first) return 1;
  errno = EPERM;
  return 0;
}

DIR *dft__tracefolder_open(const char *folder, const char *inner) {
  char path[DFT__PATH_MAX];
  struct stat facts;
  DIR *entries = NULL;
  int fd, error;
  if (!dft__tracefolder_inner(path, sizeof path, folder, inner)) {
    errno = ENAMETOOLONG;
    return NULL;
  }
  fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ELOOP || errno == ENOTDIR || errno == EACCES) errno = EPERM;
    return NULL;
  }
  if (fstat(fd, &facts) == 0 && facts.st_uid == geteuid()) entries = fdopendir(fd);
  else errno = EPERM;
  if (entries) return entries;
  error = errno;
  close(fd);
  errno = error;
  return NULL;
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

int dft__tracefolder_find_live(const char *claim, uint32_t index, char sink[256]) {
  char folder[DFT__PATH_MAX], inner[DFT__INNER_BYTES], start[300];
  const char *slash = strrchr(claim, '/');
  size_t folder_len = dft__tracefolder_folder_len(claim, inner), len;
  const struct dirent *entry;
  DIR *entries;
  sink[0] = '\0';
  if (!folder_len || folder_len >= sizeof folder) return 0;
  memcpy(folder, claim, folder_len);
  folder[folder_len] = '\0';
  len = (size_t)snprintf(start, sizeof start, "%.*s.%u-", (int)dft__tracefolder_base_len(slash + 1), slash + 1, index);
  entries = dft__tracefolder_open(folder, inner);
  while (entries && (entry = readdir(entries)) != NULL) {
    const char *name = entry->d_name;
    if (strncmp(name, start, len) != 0 || !name[len]) continue;
    if (!sink[0] || strlen(name + len) < strlen(sink)) snprintf(sink, 256, "%s", name + len);
  }
  if (entries) closedir(entries);
  return sink[0] != '\0';
}
