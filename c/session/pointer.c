/* pointer.c - a claim that points to a spool elsewhere.
 * SPDX-License-Identifier: MIT */
#include "pointer.h"

#include <dftracer/spool.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/status.h"
#include "spool/tracefolder.h"

#define START "dftracer spool at "
#define ELSEWHERE "dftracer-" /* begins the name of a spool elsewhere */
#define TEXT_BYTES (sizeof(dft__pointer) + sizeof START + 256)

/* ---- The file ------------------------------------------------------------------------------------------------------- */

/* Device and inode of the folder that a file is in. */
static int find_folder(const char *path, uint64_t *device, uint64_t *inode) {
  char folder[DFT__PATH_MAX];
  struct stat facts;
  const char *slash = strrchr(path, '/');
  *device = *inode = 0;
  if (!slash || snprintf(folder, sizeof folder, "%.*s", (int)(slash + 1 - path), path) >= (int)sizeof folder) return 0;
  if (stat(folder, &facts) != 0) return 0;
  *device = facts.st_dev;
  *inode = facts.st_ino;
  return 1;
}

dft_status dft__pointer_write(const char *claim, const char *spool, const dft__identity *own, const char *sinks) {
  char text[TEXT_BYTES];
  int is_kept = strlen(sinks) < sizeof((dft__pointer *)NULL)->sinks && !strchr(sinks, '\n');
  uint64_t device, inode;
  ssize_t written;
  int len, fd;
  find_folder(spool, &device, &inode);
  len = snprintf(text, sizeof text, START "%s\n%s\n%s\n%s\n%llu\n%u\n%llu\n%llu\n%llu\n%llu\n", spool, own->host,
                 own->boot_id, is_kept ? sinks : "", (unsigned long long)own->pid_namespace, own->pid,
                 (unsigned long long)own->start_ticks, (unsigned long long)own->time_namespace,
                 (unsigned long long)device, (unsigned long long)inode);
  fd = dft__held_open(claim, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return errno == EEXIST ? DFT_EBUSY : dft__status_of(errno);
  written = write(fd, text, (size_t)len);
  if (close(fd) == 0 && written == len) return DFT_OK;
  dft__held_unlink(claim);
  return DFT_ENOSPC;
}

/* The text, terminated, and what kind of file it is in. Zero when it is not a regular file that can be read. */
static int read_claim(const char *claim, char text[TEXT_BYTES], struct stat *facts) {
  int fd = dft__held_open(claim, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
  int is_file = fd >= 0 && fstat(fd, facts) == 0 && S_ISREG(facts->st_mode);
  ssize_t len = is_file ? pread(fd, text, TEXT_BYTES - 1, 0) : -1;
  if (fd >= 0) close(fd);
  text[len > 0 ? len : 0] = '\0';
  return len >= 0;
}

/* A second name was given to it by somebody, perhaps in a folder where its trace does not belong. */
static int is_own(const struct stat *facts) {
  return facts->st_uid == geteuid() && facts->st_nlink == 1;
}

static int take_line(char **rest, char *into, size_t size) {
  const char *line = *rest ? strsep(rest, "\n") : NULL;
  return line && snprintf(into, size, "%s", line) < (int)size;
}

static uint64_t take_number(char **rest) {
  char text[24];
  return take_line(rest, text, sizeof text) ? strtoull(text, NULL, 10) : 0;
}

static int parse(char *text, dft__pointer *pointer) {
  char *rest = text + sizeof START - 1;
  dft__identity *owner = &pointer->owner;
  memset(owner, 0, sizeof *owner);
  if (strncmp(text, START, sizeof START - 1) != 0) return 0;
  if (!take_line(&rest, pointer->spool, sizeof pointer->spool) || pointer->spool[0] != '/') return 0;
  if (!take_line(&rest, owner->host, sizeof owner->host)) return 0;
  if (!take_line(&rest, owner->boot_id, sizeof owner->boot_id)) return 0;
  if (!take_line(&rest, pointer->sinks, sizeof pointer->sinks)) pointer->sinks[0] = '\0';
  owner->pid_namespace = take_number(&rest);
  owner->pid = (uint32_t)take_number(&rest);
  owner->start_ticks = take_number(&rest);
  owner->time_namespace = take_number(&rest);
  pointer->device = take_number(&rest);
  pointer->inode = take_number(&rest);
  return 1;
}

int dft__pointer_read(const char *claim, dft__pointer *pointer) {
  char text[TEXT_BYTES];
  struct stat facts;
  if (!read_claim(claim, text, &facts) || !is_own(&facts) || !parse(text, pointer)) return 0;
  if (facts.st_mode & (S_IWGRP | S_IWOTH)) {
    pointer->sinks[0] = '\0';
    pointer->owner.pid = 0;
  }
  return 1;
}

/* ---- Where it leads ------------------------------------------------------------------------------------------------- */

int dft__pointer_spool(char *path, size_t size, const char *spool_dir, const char *folder, const char *base,
                       const dft__identity *own) {
  /* Containers may share the folder of spools, and have processes of the same pid. */
  const uint64_t who[] = {own->start_ticks, own->pid_namespace, own->image};
  int len = snprintf(path, size, "%s/" ELSEWHERE "%u-%016llx-%s" DFT_SPOOL_SUFFIX, spool_dir, own->pid,
                     (unsigned long long)dft__hash(folder, strlen(folder), dft__hash((const char *)who, sizeof who, 0)),
                     base);
  return len > 0 && (size_t)len < size;
}

int dft__pointer_is_spool_path(const char *path) {
  const char *name = strrchr(path, '/') + 1;
  if (!dft__tracefolder_base_len(name)) return 0;
  return strncmp(name, ELSEWHERE, sizeof ELSEWHERE - 1) == 0 || dft__tracefolder_folder_len(path, NULL) > 0;
}

enum dft__life dft__pointer_life(const dft__pointer *pointer, const dft__identity *own) {
  uint64_t device, inode;
  enum dft__life life = dft__identity_life(&pointer->owner, own);
  int is_same_folder = find_folder(pointer->spool, &device, &inode) && device == pointer->device &&
                       inode == pointer->inode;
  return life == DFT__DEAD && !is_same_folder ? DFT__UNKNOWN : life;
}

enum dft__claim_kind dft__pointer_follow(const char *claim, const dft__identity *own, char *spool_path, size_t size) {
  dft__pointer pointer;
  struct stat facts;
  if (dft__held_stat(claim, &facts) != 0) return errno == ENOENT ? DFT__CLAIM_NONE : DFT__CLAIM_FOREIGN;
  if (!S_ISREG(facts.st_mode)) return DFT__CLAIM_NONE;
  if (snprintf(spool_path, size, "%s", claim) >= (int)size) return DFT__CLAIM_NONE;
  if (facts.st_size >= (off_t)DFT__HEADER_BYTES) return DFT__CLAIM_SPOOL;
  if (!is_own(&facts)) return DFT__CLAIM_FOREIGN;
  if (!dft__pointer_read(claim, &pointer)) return DFT__CLAIM_NONE;
  if (snprintf(spool_path, size, "%s", pointer.spool) >= (int)size) return DFT__CLAIM_NONE;
  if (dft__held_stat(spool_path, &facts) == 0) return DFT__CLAIM_POINTER;
  if (errno != ENOENT) return DFT__CLAIM_FOREIGN;
  switch (dft__pointer_life(&pointer, own)) {
    case DFT__ALIVE: return DFT__CLAIM_ALIVE;
    case DFT__DEAD: return DFT__CLAIM_STALE;
    default: return DFT__CLAIM_FOREIGN;
  }
}

/* ---- For readers ---------------------------------------------------------------------------------------------------- */

int dft_spool_is(const void *bytes, size_t len) {
  return (len >= 8 && memcmp(bytes, DFT__MAGIC, 8) == 0) ||
         (len >= sizeof START - 1 && memcmp(bytes, START, sizeof START - 1) == 0);
}

int dft_spool_find(const char *claim, char *path, size_t size) {
  char text[TEXT_BYTES];
  dft__pointer pointer;
  struct stat facts;
  if (!read_claim(claim, text, &facts)) return 0;
  return snprintf(path, size, "%s", parse(text, &pointer) ? pointer.spool : claim) < (int)size;
}
