/* spool.c - the mapped file of one process.
 *
 * The whole range that it may ever need is mapped at once. Only what lies below header.file_bytes has storage, and only
 * that is touched. Writing zeros reserves the storage. So a full disk is an error here instead of a SIGBUS later, and a
 * file that is removed soon never reaches the disk. Then the pages are faulted in, so that a store never waits.
 * docs/decisions/002-spool-storage.md compares this with page faults alone and with fallocate.
 * SPDX-License-Identifier: MIT */
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
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

#include "base/monotonic.h"
#include "base/signals.h"
#include "base/status.h"
#include "codec/heldfolder.h"
#include "hooks.h"

#define FIRST_BYTES \
  ((uint64_t)DFT__HEADER_BYTES + (20u << 10)) /* the header, names, a thread's first chunks, also after exec */
#define GROW_LEAST ((uint64_t)64 << 10)
#define GROW_MOST ((uint64_t)1 << 20)
#define GROW_FOR_MANY ((uint64_t)4 << 20) /* when others wait: there may be a thousand */
#define EXTRA_BYTES ((uint64_t)64 << 20)  /* address space for names, threads, deep stacks, huge records */
#define GROW_WAIT_NS UINT64_C(2000000000) /* for the thread that extends the file: a busy disk may take seconds */
#define GROW_LOOK_NS 50000000L            /* if nobody woke a thread that waits for it */
#define GROW_RETRY_NS UINT64_C(100000000)
#define AHEAD_BYTES ((uint64_t)4 << 20)
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static uint32_t own_tid(void) {
  return (uint32_t)syscall(SYS_gettid);
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
  if (errno != ENOMEM) errno = ENOSPC; /* it says EFAULT, as for a SIGBUS */
  return -1;
}

/* Storage for the bytes between two offsets, which are mapped at `base`, if that is not NULL. 0, or -1 and errno. */
static int allocate(int fd, char *base, uint64_t from, uint64_t to) {
  int error;
  if (is_over_limit(to)) {
    errno = EFBIG;
    return -1;
  }
  if (write_zeros(fd, from, to) == 0 && (!base || populate(base + from, to - from) == 0)) return 0;
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

/* The range that an earlier session left is taken, if it is as large. */
static void *map_all(dft__spool *spool, int fd, uint64_t map_bytes) {
  char *range = spool->range;
  int fixed = range && spool->range_bytes == map_bytes ? MAP_FIXED : 0;
  if (range && !fixed) munmap(range, spool->range_bytes);
  spool->range = NULL;
  return mmap(fixed ? range : NULL, map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | fixed, fd, 0);
}

/* ---- The lock ------------------------------------------------------------------------------------------------------- */

/* Others learn from it whether this process can still write to the file. A lock belongs to an open file, and that stays open
 * as long as a page of it is mapped: no descriptor is needed, and SIGKILL and exec free the lock. Forked children inherit
 * mappings, but not this one. So the page belongs to another open file than the spool's own mapping. */

#define LOCK_BYTES 4096u
#define LOCK_TRIES 100 /* a recovery that looks whether this is a spool holds the lock for a moment */

/* On overlay file systems a mapping keeps another file open than the one that was locked. On network file systems other
 * nodes may not see the lock. */
int dft__spool_can_lock(int fd) {
  struct statfs facts;
  if (fstatfs(fd, &facts) != 0) return 0;
  switch ((unsigned long)facts.f_type) {
    case EXT4_SUPER_MAGIC:
    case XFS_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case F2FS_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC: return 1;
    default: return 0;
  }
}

static int try_lock(int fd) {
  return flock(fd, LOCK_EX | LOCK_NB) == 0;
}

static int is_this_file(const dft__spool *spool, int fd) {
  struct stat facts;
  return fstat(fd, &facts) == 0 && facts.st_ino == spool->inode && facts.st_dev == spool->device;
}

/* The page that keeps the lock of this descriptor, which may then be closed. NULL: no memory. */
static void *keep_lock(int fd) {
  void *page = mmap(NULL, LOCK_BYTES, PROT_READ, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED) return NULL;
  if (madvise(page, LOCK_BYTES, MADV_DONTFORK) == 0) return page;
  munmap(page, LOCK_BYTES);
  return NULL;
}

static void free_lock(dft__spool *spool) {
  if (spool->lock) munmap(spool->lock, LOCK_BYTES);
  spool->lock = NULL;
}

/* Notes that the file is locked, if a stranger, `fd`, cannot lock it. */
static void note_lock(dft__spool *spool, int fd) {
  if (spool->lock && try_lock(fd)) {
    flock(fd, LOCK_UN);
    free_lock(spool);
  }
  spool->header->lock_device = spool->lock ? spool->device : 0;
  spool->header->lock_inode = spool->lock ? spool->inode : 0;
}

/* `fd` is that of the mapping. */
static void lock_file(dft__spool *spool, int fd) {
  int locked = dft__spool_can_lock(fd) ? open(spool->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC) : -1;
  if (locked < 0) return;
  for (int tries = 0; is_this_file(spool, locked) && !spool->lock && tries < LOCK_TRIES; tries++) {
    if (try_lock(locked)) spool->lock = keep_lock(locked);
    else sched_yield();
  }
  close(locked);
  note_lock(spool, fd);
}

/* ---- Making --------------------------------------------------------------------------------------------------------- */

static dft_status map_new(dft__spool *spool, int fd, uint64_t limit_bytes) {
  struct stat facts;
  uint64_t map_bytes = map_bytes_for(limit_bytes);
  void *base;
  if (fstat(fd, &facts) != 0) return DFT_EIO;
  if (allocate(fd, NULL, 0, FIRST_BYTES) != 0) return dft__status_of(errno);
  base = map_all(spool, fd, map_bytes);
  if (base == MAP_FAILED) return DFT_ENOMEM;
  if (populate(base, FIRST_BYTES) != 0) {
    dft_status status = dft__status_of(errno);
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
  fd = dft__held_open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return errno == EEXIST ? DFT_EBUSY : dft__status_of(errno);
  status = map_new(spool, fd, limit_bytes);
  if (status == DFT_OK) lock_file(spool, fd);
  close(fd);
  if (status != DFT_OK) dft__held_unlink(path);
  return status;
}

void dft__spool_announce(dft__spool *spool) {
  atomic_thread_fence(memory_order_release);
  memcpy(spool->header->magic, DFT__MAGIC, sizeof spool->header->magic);
  atomic_fetch_or(&spool->inside, DFT__SPOOL_OPEN);
}

/* To the thread sanitizer a mapping that replaces another is a write to every byte of it, and a thread that is late writes there,
 * too, as it should. Only the mapping is exempt: what threads do there is still checked. */
#ifdef DFT__THREAD_SANITIZER
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
#else
#define AnnotateIgnoreWritesBegin(file, line) ((void)0)
#define AnnotateIgnoreWritesEnd(file, line) ((void)0)
#endif

static void replace_mapping(const dft__spool *spool, int flags, int fd) {
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  (void)mmap(spool->base, spool->map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED | flags, fd,
             0);
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
}

static void await_growth(dft__spool *spool, uint32_t holder) {
  struct timespec most = {0, GROW_LOOK_NS};
  atomic_fetch_add(&spool->growth_waits, 1);
  syscall(SYS_futex, &spool->growing, FUTEX_WAIT_PRIVATE, holder, &most, NULL, 0);
  atomic_fetch_sub(&spool->growth_waits, 1);
}

static void end_growth(dft__spool *spool) {
  atomic_store(&spool->growing, 0);
  if (atomic_load(&spool->growth_waits))
    syscall(SYS_futex, &spool->growing, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Waits for a thread that is extending the file: its path, and even its inode number, may soon belong to the next session. */
void dft__spool_retire(dft__spool *spool, int is_exiting) {
  uint64_t deadline = dft__clock_ns() + GROW_WAIT_NS;
  uint32_t nobody = 0;
  atomic_fetch_and(&spool->inside, ~DFT__SPOOL_OPEN);
  atomic_store(&spool->is_retired, 1);
  while (!atomic_compare_exchange_weak(&spool->growing, &nobody, own_tid()) && dft__clock_ns() < deadline) {
    nobody = 0;
    sched_yield();
  }
  if (!is_exiting) {
    replace_mapping(spool, MAP_ANONYMOUS, -1);
    free_lock(spool); /* not earlier: threads may have been writing to the file */
    spool->range = spool->base;
    spool->range_bytes = spool->map_bytes;
  }
  end_growth(spool);
}

static dft__spool first_spool = {.number = 1};
static _Atomic(dft__spool *) all_spools = &first_spool;

dft__spool *dft__spool_numbered(uint16_t number) {
  dft__spool *spool = DFT__ACQUIRE(all_spools);
  while (spool->number != number) spool = spool->next;
  return spool;
}

dft__spool *dft__spool_spare(const dft__spool *not_this) {
  dft__spool *all = DFT__GET(all_spools), *spool = all;
  do {
    if (spool != not_this && !atomic_load(&spool->inside)) return spool;
  } while ((spool = spool->next) != NULL);
  if (all->number == UINT16_MAX) return NULL;
  spool = mmap(NULL, sizeof *spool, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (spool == MAP_FAILED) return NULL;
  spool->next = all;
  spool->number = (uint16_t)(all->number + 1);
  DFT__RELEASE(all_spools, spool);
  return spool;
}

int dft__spool_enter(dft__spool *spool) {
  if (atomic_fetch_add(&spool->inside, 1) & DFT__SPOOL_OPEN) return 1;
  dft__spool_exit(spool);
  return 0;
}

void dft__spool_exit(dft__spool *spool) {
  atomic_fetch_sub(&spool->inside, 1);
}

void dft__spool_detach(dft__spool *spool) {
  int fd = open(spool->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  spool->lock = NULL; /* the parent's */
  atomic_store(&spool->waiting, 0);
  if (fd >= 0 && is_this_file(spool, fd)) {
    replace_mapping(spool, 0, fd);
  } else {
    dft__spool_retire(spool, 0);
  }
  if (fd >= 0) close(fd);
  spool->is_detached = 1;
}

int dft__spool_is_in_place(const dft__spool *spool) {
  struct stat facts;
  return lstat(spool->path, &facts) == 0 && facts.st_ino == spool->inode && facts.st_dev == spool->device;
}

static int lengthen(dft__spool *spool, uint64_t from, uint64_t to) {
  int error = ENOENT;
  int fd = open(spool->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    error = errno;
  } else {
    if (is_this_file(spool, fd)) error = allocate(fd, spool->base, from, to) == 0 ? 0 : errno;
    close(fd);
  }
  DFT__SET(spool->grow_error, error);
  return !error;
}

/* Where the file ends after the next step, at `bytes` or later. It passes the limit for that alone. */
static uint64_t next_end(const dft__spool *spool, uint64_t from, uint64_t bytes) {
  uint64_t most = DFT__HEADER_BYTES + spool->header->limit_bytes;
  uint64_t step = from / 2 < GROW_LEAST ? GROW_LEAST : from / 2 < GROW_MOST ? from / 2 & ~UINT64_C(4095) : GROW_MOST;
  int is_urgent = atomic_load(&spool->growth_waits) || atomic_load(&spool->waiting);
  uint64_t to = from + (is_urgent ? GROW_FOR_MANY : step);
  if (to > most) to = from < most ? most : from + GROW_LEAST;
  if (to < bytes) to = bytes;
  return to < spool->map_bytes ? to : spool->map_bytes;
}

/* With the lock. */
static int grow(dft__spool *spool, uint64_t bytes) {
  dft__header *header = spool->header;
  uint64_t from = DFT__GET(header->file_bytes);
  uint64_t to = next_end(spool, from, bytes);
  if (atomic_load(&spool->is_retired) || from < DFT__HEADER_BYTES) return 0;
  if (from >= bytes) return 1;
  if (!lengthen(spool, from, to) && !lengthen(spool, from, to = bytes)) return 0;
  DFT__RELEASE(header->file_bytes, to);
  return 1;
}

/* Zero when that is not possible now. */
static int grow_here(dft__spool *spool, uint64_t bytes, int may_wait) {
  uint64_t before = dft__signals_block(); /* a handler that jumps away would keep the lock forever */
  uint32_t holder = 0;
  int is_mine = atomic_compare_exchange_strong(&spool->growing, &holder, own_tid());
  int is_done = is_mine && grow(spool, bytes);
  if (is_mine) {
    DFT__SET(spool->grow_ns, is_done ? 0 : dft__clock_ns() + GROW_RETRY_NS);
    end_growth(spool);
  } else if (may_wait) {
    await_growth(spool, holder);
  }
  dft__signals_restore(before);
  return is_done || (!is_mine && may_wait);
}

/* Leaves it to the background thread; -1 when that does not do it. */
static int grow_aside(dft__spool *spool, uint64_t bytes, int may_wait) {
  uint64_t wanted = DFT__GET(spool->wanted_bytes);
  uint32_t holder = atomic_load(&spool->growing);
  while (wanted < bytes && !atomic_compare_exchange_weak(&spool->wanted_bytes, &wanted, bytes)) continue;
  if (!dft__hooks.drain_ask_growth(spool)) return -1;
  if (may_wait && DFT__ACQUIRE(spool->header->file_bytes) < bytes) await_growth(spool, holder);
  return may_wait;
}

int dft__spool_grow(dft__spool *spool, uint64_t bytes, int may_wait) {
  dft__header *header = spool->header;
  uint64_t deadline;
  if (DFT__LIKELY(DFT__ACQUIRE(header->file_bytes) >= bytes)) return 1;
  if (bytes > spool->map_bytes || spool->is_detached) return 0;
  deadline = dft__clock_ns() + GROW_WAIT_NS;
  while (DFT__ACQUIRE(header->file_bytes) < bytes && dft__clock_ns() < deadline) {
    int goes_on;
    if (dft__clock_ns() < DFT__GET(spool->grow_ns)) return 0;
    goes_on = grow_aside(spool, bytes, may_wait);
    if (goes_on < 0) goes_on = grow_here(spool, bytes, may_wait);
    if (!goes_on) break;
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
    if (want < DFT__GET(spool->wanted_bytes)) want = DFT__GET(spool->wanted_bytes);
    /* In steps, because producers may be waiting for the next one. */
    if (now >= want || !grow_here(spool, now + GROW_MOST < want ? now + GROW_MOST : want, 1)) return;
  }
}

/* ---- Closing, and taking over what was opened ------------------------------------------------------------------------ */

void dft__spool_close(dft__spool *spool) {
  munmap(spool->base, spool->map_bytes);
  if (spool->fd >= 0) close(spool->fd);
}

int dft__spool_take_over(dft__spool *spool) {
  const dft__header *header = spool->header;
  uint64_t map_bytes = header->map_bytes;
  void *base = MAP_FAILED;
  int fd;
  if (map_bytes != map_bytes_for(header->limit_bytes) || DFT__GET(header->file_bytes) > map_bytes ||
      DFT__GET(header->top) > map_bytes) {
    return 0;
  }
  fd = open(spool->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC); /* forked children inherit this one, without the lock */
  if (fd >= 0 && is_this_file(spool, fd))
    base = mmap(NULL, map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (base == MAP_FAILED) {
    if (fd >= 0) close(fd);
    return 0;
  }
  munmap(spool->base, spool->map_bytes);
  if (dft__spool_can_lock(fd)) spool->lock = keep_lock(spool->fd);
  close(spool->fd);
  spool->base = base;
  spool->header = base;
  spool->map_bytes = map_bytes;
  spool->fd = -1;
  spool->is_adopted = 1;
  note_lock(spool, fd);
  close(fd);
  (void)populate(base, DFT__GET(spool->header->file_bytes) < FIRST_BYTES ? DFT__HEADER_BYTES : FIRST_BYTES);
  return 1;
}
