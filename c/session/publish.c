/* publish.c - gives complete traces their names, and cleans up.
 * SPDX-License-Identifier: MIT */
#include "publish.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spool/tracefolder.h"

#define NAMES_MOST 10000

static const char *suffix_of(const dft_sink *sink, const dft__header *header) {
  return header->compress || !sink->plain_suffix ? sink->suffix : sink->plain_suffix;
}

/* Only ENOENT says that nothing is there: a file that cannot be looked at may be somebody's trace. */
static int is_absent(const char *path) {
  struct stat facts;
  return dft__held_stat(path, &facts) != 0 && errno == ENOENT;
}

/* Other tools trust an index of that name without a check. */
static void remove_stale_index(const char *path) {
  static const char *const endings[] = {".zindex", ".idx"};
  char index[DFT__PATH_MAX + 16];
  for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
    snprintf(index, sizeof index, "%s%s", path, endings[i]);
    dft__held_unlink(index);
  }
}

dft_status dft__publish_new(const char *live, const char *folder, const char *stem, const char *suffix, char *name,
                            size_t size) {
  for (int number = 1; number < NAMES_MOST; number++) {
    char more[16] = "";
    if (number > 1) snprintf(more, sizeof more, "-%d", number);
    if (snprintf(name, size, "%s/%s%s%s", folder, stem, more, suffix) >= (int)size) return DFT_EINVAL;
    if (!is_absent(name)) continue; /* another trace's, and so is its index */
    remove_stale_index(name);
    if (dft__held_rename_new(live, name) == 0) return DFT_OK;
    if (errno != EEXIST) return DFT_EIO;
  }
  return DFT_EIO;
}

/* A program that runs again replaces its own trace; never a file of another user, a device or a FIFO. */
static int may_replace(const char *live, const char *name) {
  struct stat there, own;
  if (dft__held_stat(name, &there) != 0) return errno == ENOENT;
  return (S_ISREG(there.st_mode) || S_ISLNK(there.st_mode)) && dft__held_stat(live, &own) == 0 &&
         own.st_uid == there.st_uid;
}

/* Who recovers may have another umask than the process had. The mode of the hidden folder shows how private traces are here.
 * Zero when it could not be found out, or not be changed. */
static int narrow(const dft__spool *spool, const char *live) {
  char inner[DFT__PATH_MAX];
  struct stat folder, file;
  int fd, is_narrow = 0;
  if (!dft__tracefolder_inner(inner, sizeof inner, spool->header->folder, spool->inner)) return 0;
  if (dft__held_stat(inner, &folder) != 0) return 0;
  fd = dft__held_open(live, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
  if (fd < 0) return 0;
  if (fstat(fd, &file) == 0)
    is_narrow = !(file.st_mode & 0777 & ~folder.st_mode) || fchmod(fd, file.st_mode & folder.st_mode & 0777) == 0;
  close(fd);
  return is_narrow;
}

static dft_status publish_one(const dft__outputs *outputs, const dft__output *output, const char *other_stem,
                              char *name, size_t size) {
  const dft__header *header = outputs->spool->header;
  const char *suffix = suffix_of(output->sink, header);
  char stem[sizeof header->stem + 16];
  dft_status status;
  if (!suffix || is_absent(output->path)) return DFT_OK; /* no file, or published before a death */
  status = dft__output_finish(outputs, output);
  if (status != DFT_OK) return status;
  if (outputs->spool->fd >= 0 && !narrow(outputs->spool, output->path)) return DFT_EIO; /* a recovery */
  if (header->is_explicit != 1) { /* a process of another container may have the same pid, and the same name */
    const char *kind = DFT__GET(header->annotated) ? "-app" : "-preload";
    snprintf(stem, sizeof stem, "%s%s", header->stem, header->is_explicit ? "" : kind);
    return dft__publish_new(output->path, header->folder, stem, suffix, name, size);
  }
  if (other_stem) return dft__publish_new(output->path, header->folder, other_stem, suffix, name, size);
  if (snprintf(name, size, "%s/%s%s", header->folder, header->stem, suffix) >= (int)size) return DFT_EINVAL;
  if (!may_replace(output->path, name))
    return dft__publish_new(output->path, header->folder, header->stem, suffix, name, size);
  remove_stale_index(name);
  return dft__held_rename(output->path, name) == 0 ? DFT_OK : DFT_EIO;
}

dft_status dft__publish(const dft__outputs *outputs, const char *other_stem, char *name, size_t size) {
  dft_status first = DFT_OK;
  char other[DFT__PATH_MAX];
  name[0] = '\0';
  for (uint32_t i = 0; i < outputs->count; i++) {
    int is_named = name[0] != '\0';
    dft_status status = publish_one(outputs, &outputs->list[i], other_stem, is_named ? other : name,
                                    is_named ? sizeof other : size);
    if (first == DFT_OK) first = status;
  }
  return first;
}

void dft__publish_clean(const dft__outputs *outputs, const char *spool_path) {
  const dft__header *header = outputs->spool->header;
  char path[DFT__PATH_MAX];
  for (uint32_t i = 0; i < outputs->count; i++) {
    if (outputs->list[i].sink->suffix) dft__held_unlink(outputs->list[i].path);
  }
  /* The spool and then its pointer go last: as long as the pointer is there, a recovery finds the spool. */
  dft__held_unlink(spool_path);
  if (dft__tracefolder_claim(path, sizeof path, header->folder, outputs->spool->inner, header->base) &&
      strcmp(path, spool_path) != 0)
    dft__held_unlink(path);
  if (dft__tracefolder_inner(path, sizeof path, header->folder, outputs->spool->inner))
    dft__held_rmdir(path); /* if it is empty */
}
