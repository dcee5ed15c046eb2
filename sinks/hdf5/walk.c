/* walk.c - reads the records of a row of segment files. They may be a stranger's: every length is checked.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/heldfolder.h"
#include "segment.h"

static int open_next(dft__h5_walk *walk) {
  static const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  char name[PATH_MAX + 16];
  struct stat facts;
  struct dft__h5_file *file = realloc(walk->files, (walk->count + 1) * sizeof *file);
  if (!file) return 0;
  walk->files = file;
  if (!dft__h5_segment_name(name, sizeof name, walk->path, walk->count + 1)) return 0;
  file += walk->count;
  file->fd = dft__held_open(name, flags, 0);
  walk->is_last_open = file->fd < 0 && errno == ENOENT;
  if (walk->is_last_open) file->fd = dft__held_open(walk->path, flags, 0);
  if (file->fd < 0 || fstat(file->fd, &facts) != 0) {
    if (file->fd >= 0) close(file->fd);
    return 0;
  }
  file->start = walk->count ? file[-1].end : 0;
  file->end = file->start + (uint64_t)facts.st_size;
  walk->count++;
  return 1;
}

/* Takes the file that holds this byte in hand. Records do not lie across files. */
static int turn_to(dft__h5_walk *walk, uint64_t offset) {
  if (walk->in_hand >= walk->count || offset < walk->files[walk->in_hand].start) walk->in_hand = 0;
  while (walk->in_hand >= walk->count || offset >= walk->files[walk->in_hand].end) {
    if (walk->in_hand < walk->count) walk->in_hand++;
    if (walk->in_hand < walk->count) continue;
    errno = EIO;
    if (walk->is_last_open || !open_next(walk)) return 0;
  }
  return 1;
}

static int read_at(dft__h5_walk *walk, void *into, size_t bytes, uint64_t offset) {
  char *at = into;
  if (bytes && !turn_to(walk, offset)) return 0;
  while (bytes) {
    const struct dft__h5_file *file = &walk->files[walk->in_hand];
    ssize_t got = pread(file->fd, at, bytes, (off_t)(offset - file->start));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return 0;
    at += got;
    offset += (uint64_t)got;
    bytes -= (size_t)got;
  }
  return 1;
}

int dft__h5_walk_open(dft__h5_walk *walk, const char *path, uint64_t length) {
  *walk = (dft__h5_walk){.path = path, .length = length};
  if (!length || turn_to(walk, length - 1)) return 1;
  dft__h5_walk_close(walk);
  return 0;
}

int dft__h5_walk_next(dft__h5_walk *walk) {
  if (walk->next == walk->length) return 0;
  if (walk->length - walk->next < sizeof walk->record) return -1;
  if (!read_at(walk, &walk->record, sizeof walk->record, walk->next)) return -1;
  walk->offset = walk->next + sizeof walk->record;
  if (walk->record.magic != DFT__H5_MAGIC || walk->record.bytes > walk->length - walk->offset) return -1;
  walk->next = walk->offset + walk->record.bytes;
  return 1;
}

int dft__h5_walk_read(dft__h5_walk *walk, void *into, size_t size) {
  return walk->record.bytes <= size && read_at(walk, into, walk->record.bytes, walk->offset);
}

void dft__h5_walk_close(dft__h5_walk *walk) {
  for (uint32_t i = 0; i < walk->count; i++) close(walk->files[i].fd);
  free(walk->files);
  walk->files = NULL;
  walk->count = 0;
}
