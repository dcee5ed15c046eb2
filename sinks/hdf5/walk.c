/* walk.c - reads the records of a segment file. They may be a stranger's: every length is checked.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "segment.h"

static int read_at(int fd, void *into, size_t bytes, uint64_t offset) {
  char *at = into;
  while (bytes) {
    ssize_t got = pread(fd, at, bytes, (off_t)offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return 0;
    at += got;
    offset += (uint64_t)got;
    bytes -= (size_t)got;
  }
  return 1;
}

int dft__h5_walk_open(dft__h5_walk *walk, const char *path, uint64_t length) {
  struct stat facts;
  memset(walk, 0, sizeof *walk);
  walk->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (walk->fd < 0) return 0;
  if (fstat(walk->fd, &facts) != 0 || (uint64_t)facts.st_size < length) {
    errno = EIO;
    dft__h5_walk_close(walk);
    return 0;
  }
  walk->length = length;
  return 1;
}

int dft__h5_walk_next(dft__h5_walk *walk) {
  if (walk->next == walk->length) return 0;
  if (walk->length - walk->next < sizeof walk->record) return -1;
  if (!read_at(walk->fd, &walk->record, sizeof walk->record, walk->next)) return -1;
  walk->offset = walk->next + sizeof walk->record;
  if (walk->record.magic != DFT__H5_MAGIC || walk->record.bytes > walk->length - walk->offset) return -1;
  walk->next = walk->offset + walk->record.bytes;
  return 1;
}

int dft__h5_walk_read(const dft__h5_walk *walk, void *into, size_t size) {
  return walk->record.bytes <= size && read_at(walk->fd, into, walk->record.bytes, walk->offset);
}

void dft__h5_walk_close(dft__h5_walk *walk) {
  if (walk->fd >= 0) close(walk->fd);
  walk->fd = -1;
}
