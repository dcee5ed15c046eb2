/* leftover.c - spools of others: what a dead process left, and copies of what a living one has.
 * SPDX-License-Identifier: MIT */
#include "leftover.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/heldfolder.h"

#define RECOVER_BYTES ((uint64_t)256 << 10) /* what a recovery may add */

/* ---- Opening ------------------------------------------------------------------------------------------------------ */

static int is_terminated(const char *text, size_t size) {
  return memchr(text, '\0', size) != NULL;
}

/* Whether later code can rely on the header. References of names are checked where they are used. */
static int is_sane(const dft__header *header, uint64_t file_bytes) {
  uint64_t allocated = DFT__GET(header->file_bytes);
  uint64_t top = DFT__GET(header->top);
  if (memcmp(header->magic, DFT__MAGIC, sizeof header->magic) != 0) return 0;
  if (header->layout != DFT__LAYOUT || header->header_bytes != DFT__HEADER_BYTES) return 0;
  if (allocated < DFT__HEADER_BYTES || allocated > file_bytes || top < DFT__HEADER_BYTES || top % 4096) return 0;
  if (header->sink_count < 1 || header->sink_count > DFT__SINKS_MAX) return 0;
  for (uint32_t i = 0; i < header->sink_count; i++) {
    if (!is_terminated(header->sink[i], sizeof header->sink[i])) return 0;
  }
  return is_terminated(header->boot_id, sizeof header->boot_id) && is_terminated(header->host, sizeof header->host) &&
         is_terminated(header->folder, sizeof header->folder) && header->folder[0] &&
         is_terminated(header->stem, sizeof header->stem) && !strchr(header->stem, '/') && header->stem[0] &&
         is_terminated(header->base, sizeof header->base) && !strchr(header->base, '/') && header->base[0] &&
         is_terminated(header->unit, sizeof header->unit) && header->unit_ns >= 1 && header->unit_ns <= 1000000000u &&
         header->level >= 0 && header->level <= 9 && DFT__GET(header->clock.count) >= 1 &&
         DFT__GET(header->clock.count) <= DFT__KNOTS;
}

static dft_status open_checked(dft__spool *spool, int fd) {
  struct stat facts;
  void *base;
  if (fstat(fd, &facts) != 0) return DFT_EIO;
  if (!S_ISREG(facts.st_mode) || facts.st_nlink != 1 || facts.st_uid != geteuid()) return DFT_EFORMAT;
  if (facts.st_size < (off_t)DFT__HEADER_BYTES) return DFT_EFORMAT;
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) return errno == EWOULDBLOCK ? DFT_EBUSY : DFT_EIO;
  spool->map_bytes = (size_t)facts.st_size + RECOVER_BYTES;
  base = mmap(NULL, spool->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) return DFT_ENOMEM;
  spool->base = base;
  spool->header = base;
  spool->device = facts.st_dev;
  spool->inode = facts.st_ino;
  if (is_sane(spool->header, (uint64_t)facts.st_size)) return DFT_OK;
  munmap(base, spool->map_bytes);
  return DFT_EFORMAT;
}

dft_status dft__spool_open(dft__spool *spool, const char *path) {
  dft_status status;
  memset(spool, 0, offsetof(dft__spool, path));
  if (strlen(path) >= sizeof spool->path) return DFT_EINVAL;
  memcpy(spool->path, path, strlen(path) + 1);
  spool->fd = dft__held_open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC, 0);
  if (spool->fd < 0) return DFT_EIO;
  status = open_checked(spool, spool->fd);
  if (status != DFT_OK) close(spool->fd);
  return status;
}

void dft__spool_owner(const dft__spool *spool, dft__identity *owner) {
  const dft__header *header = spool->header;
  *owner = (dft__identity){.pid = header->pid,
                           .ppid = header->ppid,
                           .start_ticks = header->start_ticks,
                           .pid_namespace = header->pid_namespace,
                           .time_namespace = header->time_namespace,
                           .image = header->image};
  memcpy(owner->boot_id, header->boot_id, sizeof owner->boot_id);
  memcpy(owner->host, header->host, sizeof owner->host);
}

int dft__spool_is_let_go(const dft__spool *spool) {
  const dft__header *header = spool->header;
  return header->lock_inode && header->lock_inode == spool->inode && header->lock_device == spool->device &&
         dft__spool_can_lock(spool->fd);
}

/* ---- Copying ------------------------------------------------------------------------------------------------------ */

#define COPY_TRIES 8

/* What the file holds now; 0 when it cannot be read. A file that became shorter leaves zeros. */
static int copy_file(int fd, char *into, size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    ssize_t len = pread(fd, into + done, bytes - done, (off_t)done);
    if (len < 0) return 0;
    if (len == 0) break;
    done += (size_t)len;
  }
  return done >= DFT__HEADER_BYTES;
}

/* One try. DFT_EBUSY when a commit came, or the file grew, in the middle: the copy holds parts of two moments. */
static dft_status copy_once(dft__spool *spool, int fd) {
  uint64_t before = 0, after = 0;
  struct stat facts;
  void *base;
  if (pread(fd, &before, sizeof before, offsetof(dft__header, commit_seq)) != sizeof before) return DFT_EFORMAT;
  if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size < (off_t)DFT__HEADER_BYTES) return DFT_EFORMAT;
  base = mmap(NULL, (size_t)facts.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return DFT_ENOMEM;
  spool->base = base;
  spool->header = base;
  spool->map_bytes = (size_t)facts.st_size;
  if (!copy_file(fd, base, spool->map_bytes)) return DFT_EIO;
  if (pread(fd, &after, sizeof after, offsetof(dft__header, commit_seq)) != sizeof after) return DFT_EFORMAT;
  if (before != after || DFT__GET(spool->header->file_bytes) > spool->map_bytes) return DFT_EBUSY;
  return is_sane(spool->header, spool->map_bytes) ? DFT_OK : DFT_EFORMAT;
}

dft_status dft__spool_copy(dft__spool *spool, const char *path) {
  int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  dft_status status = DFT_EBUSY;
  if (fd < 0) return DFT_EIO;
  for (int tries = 0; tries < COPY_TRIES && status == DFT_EBUSY; tries++) {
    memset(spool, 0, sizeof *spool); /* without a path: nothing of it can grow the original */
    spool->fd = -1;
    status = copy_once(spool, fd);
    if (status == DFT_EBUSY &&
        tries + 1 == COPY_TRIES) { /* a busy process: of what changed meanwhile some is missing */
      if (DFT__GET(spool->header->file_bytes) > spool->map_bytes) DFT__SET(spool->header->file_bytes, spool->map_bytes);
      status = is_sane(spool->header, spool->map_bytes) ? DFT_OK : DFT_EFORMAT;
    }
    if (status != DFT_OK && spool->base) munmap(spool->base, spool->map_bytes);
  }
  close(fd);
  return status;
}
