/* walk.c - reads the records of a row of segment files. They may be a stranger's: every length is checked.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "segment.h"

static int open_next(dft__h5_walk *walk) {
  static const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  char name[PATH_MAX + 16];
  struct stat facts;
  if (walk->is_last || !dft__h5_segment_name(name, sizeof name, walk->path, ++walk->number)) return 0;
  dft__h5_walk_close(walk);
  walk->fd = open(name, flags);
  walk->is_last = walk->fd < 0 && errno == ENOENT;
  if (walk->is_last) walk->fd = open(walk->path, flags);
  if (walk->fd < 0 || fstat(walk->fd, &facts) != 0) return 0;
  walk->start = walk->end;
  walk->end += (uint64_t)facts.st_size;
  return 1;
}

/* Takes the file that holds this byte in hand. Records do not lie across files. */
static int turn_to(dft__h5_walk *walk, uint64_t offset) {
  if (offset < walk->start) walk->number = 0, walk->is_last = 0, walk->start = walk->end = 0;
  while (offset >= walk->end) {
    errno = EIO;
    if (!open_next(walk)) return 0;
  }
  return 1;
}

static int read_at(dft__h5_walk *walk, void *into, size_t bytes, uint64_t offset) {
  char *at = into;
  if (bytes && !turn_to(walk, offset)) return 0;
  offset -= walk->start;
  while (bytes) {
    ssize_t got = pread(walk->fd, at, bytes, (off_t)offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return 0;
    at += got;
    offset += (uint64_t)got;
    bytes -= (size_t)got;
  }
  return 1;
}

int dft__h5_walk_open(dft__h5_walk *walk, const char *path, uint64_t length) {
  *walk = (dft__h5_walk){.path = path, .fd = -1, .length = length};
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
  if (walk->fd >= 0) close(walk->fd);
  walk->fd = -1;
}
