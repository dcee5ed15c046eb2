/* spool.c - the mapped file of one process.
 *
 * The whole range that it may ever need is mapped at once; only what lies below header.file_bytes has storage, and only
 * that is touched. Storage is had by writing zeros, which reserves blocks: a full disk is an error here and no SIGBUS later, and a
 * file that dies young never reaches the disk. Then pages are faulted in, so that a store never waits. (Faults alone would
 * reserve blocks too, page by page and three times as dear; fallocate takes blocks that cost a millisecond and more to give
 * back.)
 * SPDX-License-Identifier: MIT */
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "signals.h"

#define FIRST_BYTES \
  ((uint64_t)DFT__HEADER_BYTES + (20u << 10)) /* the header, names, a thread's first chunks, also after exec */
#define GROW_LEAST ((uint64_t)64 << 10)
#define GROW_MOST ((uint64_t)1 << 20)
#define EXTRA_BYTES ((uint64_t)64 << 20)  /* address space for names, threads, deep stacks, huge records */
#define GROW_WAIT_NS UINT64_C(2000000000) /* for the thread that is at it: a busy disk may take seconds */
#define GROW_PAUSE_NS 100000L
#define GROW_RETRY_NS UINT64_C(100000000)
#define RECOVER_BYTES ((uint64_t)256 << 10) /* what a recovery may add */
#define AHEAD_BYTES ((uint64_t)4 << 20)
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static uint32_t own_tid(void) {
  return (uint32_t)syscall(SYS_gettid);
}

static dft_status status_of(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG ? DFT_ENOSPC : DFT_EIO;
}

/* ---- Storage ------------------------------------------------------------------------------------------------------ */

/* Beyond the limit of the process the kernel would send SIGXFSZ. */
static int is_over_limit(uint64_t bytes) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur;
}

static int write_zeros(int fd, uint64_t from, uint64_t to) {
  static const char zeros[64 << 10];
  while (from < to) {
    ssize_t written = pwrite(fd, zeros, to - from < sizeof zeros ? to - from : sizeof zeros, (off_t)from);
    if (written > 0) from += (uint64_t)written;
    else if (written == 0 || errno != EINTR) return -1;
  }
  return 0;
}

/* Kernels before 5.14 cannot, and fault pages in as they are touched. */
static int populate(char *at, uint64_t bytes) {
  int result;
  do result = madvise(at, bytes, MADV_POPULATE_WRITE);
  while (result < 0 && errno == EINTR);
  if (result == 0 || errno == EINVAL) return 0;
  errno = ENOSPC; /* it says EFAULT, as for a SIGBUS */
  return -1;
}

/* Storage for the bytes between two offsets, which are mapped at `base`. 0, or -1 and errno. */
static int allocate(int fd, char *base, uint64_t from, uint64_t to) {
  int error;
  if (is_over_limit(to)) {
    errno = EFBIG;
    return -1;
  }
  if (write_zeros(fd, from, to) == 0 && populate(base + from, to - from) == 0) return 0;
  error = errno;
  if (ftruncate(fd, (off_t)from) != 0) return -1;
  errno = error;
  return -1;
}

int dft__spool_is_good_place(const char *folder) {
  struct statfs facts;
  if (statfs(folder, &facts) != 0) return -1;
  switch ((unsigned long)facts.f_type) {
    case EXT4_SUPER_MAGIC:
    case XFS_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case F2FS_SUPER_MAGIC:
    case OVERLAYFS_SUPER_MAGIC: return 1;
    default: return 0;
  }
}

static uint64_t map_bytes_for(uint64_t limit_bytes) {
  return DFT__HEADER_BYTES + limit_bytes + EXTRA_BYTES;
}

static void *map_all(int fd, uint64_t map_bytes) {
  return mmap(NULL, map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
}

static dft_status map_new(dft__spool *spool, int fd, uint64_t limit_bytes) {
  struct stat facts;
  uint64_t map_bytes = map_bytes_for(limit_bytes);
  void *base;
  if (fstat(fd, &facts) != 0) return DFT_EIO;
  base = map_all(fd, map_bytes);
  if (base == MAP_FAILED) return DFT_ENOMEM;
  if (allocate(fd, base, 0, FIRST_BYTES) != 0) {
    dft_status status = status_of(errno);
    munmap(base, map_bytes);
    return status;
  }
  spool->base = base;
  spool->header = base;
  spool->map_bytes = map_bytes;
  spool->device = facts.st_dev;
  spool->inode = facts.st_ino;
  spool->header->layout = DFT__LAYOUT;
  spool->header->header_bytes = DFT__HEADER_BYTES;
  spool->header->limit_bytes = limit_bytes;
  spool->header->map_bytes = map_bytes;
  DFT__SET(spool->header->file_bytes, FIRST_BYTES);
  DFT__SET(spool->header->top, DFT__HEADER_BYTES);
  return DFT_OK;
}

dft_status dft__spool_create(dft__spool *spool, const char *path, uint64_t limit_bytes) {
  dft_status status;
  int fd;
  memset(spool, 0, offsetof(dft__spool, path));
  spool->fd = -1;
  if (strlen(path) >= sizeof spool->path) return DFT_EINVAL;
  memcpy(spool->path, path, strlen(path) + 1);
  fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return errno == EEXIST ? DFT_EBUSY : status_of(errno);
  status = map_new(spool, fd, limit_bytes);
  close(fd);
  if (status != DFT_OK) unlink(path);
  return status;
}

void dft__spool_announce(dft__spool *spool) {
  atomic_thread_fence(memory_order_release);
  memcpy(spool->header->magic, DFT__MAGIC, sizeof spool->header->magic);
}

/* Whoever makes the file longer is awaited: the path, and even the number of the file, may soon be the next session's. */
void dft__spool_retire(dft__spool *spool, int is_exiting) {
  uint64_t deadline = dft__clock_ns() + GROW_WAIT_NS;
  uint32_t nobody = 0;
  atomic_store(&spool->is_retired, 1);
  while (!atomic_compare_exchange_weak(&spool->growing, &nobody, own_tid()) && dft__clock_ns() < deadline) {
    nobody = 0;
    sched_yield();
  }
  if (!is_exiting)
    (void)mmap(spool->base, spool->map_bytes, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  DFT__RELEASE(spool->growing, 0);
}

void dft__spool_detach(dft__spool *spool) {
  int fd = open(spool->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  struct stat facts;
  if (fd >= 0 && fstat(fd, &facts) == 0 && facts.st_ino == spool->inode && facts.st_dev == spool->device) {
    (void)mmap(spool->base, spool->map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, fd, 0);
  } else {
    dft__spool_retire(spool, 0);
  }
  if (fd >= 0) close(fd);
  spool->is_detached = 1;
}

static int lengthen(dft__spool *spool, uint64_t from, uint64_t to) {
  struct stat facts;
  int is_done = 0;
  int fd = open(spool->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return 0;
  if (fstat(fd, &facts) == 0 && facts.st_ino == spool->inode && facts.st_dev == spool->device) {
    is_done = allocate(fd, spool->base, from, to) == 0;
  }
  close(fd);
  return is_done;
}

/* With the lock. */
static int grow(dft__spool *spool, uint64_t bytes) {
  dft__header *header = spool->header;
  uint64_t from = DFT__GET(header->file_bytes);
  uint64_t step = from / 2 < GROW_LEAST ? GROW_LEAST : from / 2 < GROW_MOST ? from / 2 & ~UINT64_C(4095) : GROW_MOST;
  uint64_t to = from + step > bytes ? from + step : bytes;
  if (atomic_load(&spool->is_retired) || from < DFT__HEADER_BYTES) return 0;
  if (from >= bytes) return 1;
  if (to > spool->map_bytes) to = spool->map_bytes;
  if (!lengthen(spool, from, to) && !lengthen(spool, from, to = bytes)) return 0;
  DFT__RELEASE(header->file_bytes, to);
  return 1;
}

int dft__spool_grow(dft__spool *spool, uint64_t bytes) {
  dft__header *header = spool->header;
  uint64_t deadline = dft__clock_ns() + GROW_WAIT_NS;
  uint32_t tid = own_tid();
  if (bytes > spool->map_bytes || spool->is_detached) return 0;
  for (int tries = 0; DFT__ACQUIRE(header->file_bytes) < bytes && dft__clock_ns() < deadline; tries++) {
    if (dft__clock_ns() < DFT__GET(spool->grow_ns)) return 0;
    uint64_t before = dft__signals_block(); /* a handler that jumps away would keep the lock for ever */
    uint32_t holder = 0;
    int is_mine = atomic_compare_exchange_strong(&spool->growing, &holder, tid);
    int is_done = is_mine && grow(spool, bytes);
    if (is_mine) {
      DFT__SET(spool->grow_ns, is_done ? 0 : dft__clock_ns() + GROW_RETRY_NS);
      DFT__RELEASE(spool->growing, 0);
    }
    dft__signals_restore(before);
    if (is_mine && !is_done) return 0;
    if (!is_mine) {
      struct timespec pause = {0, GROW_PAUSE_NS << (tries < 6 ? tries : 6)}; /* hundreds may be waiting */
      syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
    }
  }
  return DFT__ACQUIRE(header->file_bytes) >= bytes;
}

void dft__spool_prepare(dft__spool *spool) {
  dft__header *header = spool->header;
  uint64_t most = DFT__HEADER_BYTES + header->limit_bytes;
  DFT__SET(spool->grow_ns, 0); /* the background thread may succeed where a producer had no descriptor left */
  for (;;) {
    uint64_t now = DFT__ACQUIRE(header->file_bytes);
    uint64_t want = DFT__GET(header->top) + AHEAD_BYTES;
    if (want > most) want = most;
    /* In steps, because producers may be waiting for the next one. */
    if (now >= want || !dft__spool_grow(spool, now + GROW_MOST < want ? now + GROW_MOST : want)) return;
  }
}

/* ---- What a dead process left ---------------------------------------------------------------------------------------- */

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
         is_terminated(header->folder, sizeof header->folder) && header->folder[0] == '/' &&
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
  spool->fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (spool->fd < 0) return DFT_EIO;
  status = open_checked(spool, spool->fd);
  if (status != DFT_OK) close(spool->fd);
  return status;
}

void dft__spool_close(dft__spool *spool) {
  munmap(spool->base, spool->map_bytes);
  if (spool->fd >= 0) close(spool->fd);
}

void dft__spool_owner(const dft__spool *spool, dft__identity *owner) {
  const dft__header *header = spool->header;
  *owner = (dft__identity){.pid = header->pid,
                           .ppid = header->ppid,
                           .start_ticks = header->start_ticks,
                           .pid_namespace = header->pid_namespace,
                           .image = header->image};
  memcpy(owner->boot_id, header->boot_id, sizeof owner->boot_id);
  memcpy(owner->host, header->host, sizeof owner->host);
}

int dft__spool_take_over(dft__spool *spool) {
  const dft__header *header = spool->header;
  uint64_t map_bytes = header->map_bytes;
  void *base;
  if (map_bytes != map_bytes_for(header->limit_bytes) || DFT__GET(header->file_bytes) > map_bytes ||
      DFT__GET(header->top) > map_bytes) {
    return 0;
  }
  base = mremap(spool->base, spool->map_bytes, map_bytes, MREMAP_MAYMOVE);
  if (base == MAP_FAILED) return 0;
  close(spool->fd);
  spool->base = base;
  spool->header = base;
  spool->map_bytes = map_bytes;
  spool->fd = -1;
  spool->is_adopted = 1;
  (void)populate(base, DFT__GET(spool->header->file_bytes) < FIRST_BYTES ? DFT__HEADER_BYTES : FIRST_BYTES);
  return 1;
}

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
