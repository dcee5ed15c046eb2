/* descriptor.c - the table of descriptors.
 *
 * It has one word for each number, in blocks that are mapped at their first use. A number whose opening we did not see
 * (opened earlier, inherited, made by a call without a wrapper) is unknown. It is looked up once, in /proc/self/fd.
 * SPDX-License-Identifier: MIT */
#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/signals.h"
#include "record/thread.h"
#include "spool/intern.h"

dft__fd_block dft__fd_first;
static DFT__LARGE _Atomic(dft__fd_block *) blocks[DFT__FD_BLOCKS]; /* the first is dft__fd_first, and not here */
static _Atomic int highest = -1;

/* A raw system call: our own calls of the library functions may be wrapped. */
static dft__fd_block *make_block(void) {
  long at = syscall(SYS_mmap, NULL, sizeof(dft__fd_block), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at == -1 ? NULL : (dft__fd_block *)at;
}

_Atomic dft__fd_entry *dft__fd_slot_far(int fd) {
  unsigned number = (unsigned)fd / DFT__FD_BLOCK;
  dft__fd_block *block, *none = NULL;
  if (fd < 0 || number >= DFT__FD_BLOCKS) return NULL;
  block = DFT__ACQUIRE(blocks[number]);
  if (!block) {
    int saved = errno;
    block = make_block();
    errno = saved;
    if (!block) return NULL;
    if (!atomic_compare_exchange_strong(&blocks[number], &none, block)) {
      syscall(SYS_munmap, block, sizeof *block);
      block = none;
    }
  }
  return &(*block)[(unsigned)fd % DFT__FD_BLOCK];
}

void dft__fd_reach(int fd) {
  int most = DFT__GET(highest);
  while (fd > most && !atomic_compare_exchange_weak(&highest, &most, fd)) continue;
}

/* The slot of a number; NULL when its block is not mapped. */
static _Atomic dft__fd_entry *present(unsigned fd) {
  dft__fd_block *block;
  if (fd < DFT__FD_BLOCK) return &dft__fd_first[fd];
  block = fd / DFT__FD_BLOCK < DFT__FD_BLOCKS ? DFT__ACQUIRE(blocks[fd / DFT__FD_BLOCK]) : NULL;
  return block ? &(*block)[fd % DFT__FD_BLOCK] : NULL;
}

/* Goes through every mapped block: entries without a reference may lie above the highest number that has one. */
void dft__fd_forget(unsigned first, unsigned last) {
  const unsigned most = DFT__FD_BLOCK * DFT__FD_BLOCKS - 1;
  if (last > most) last = most;
  for (unsigned fd = first; fd <= last; fd++) {
    _Atomic dft__fd_entry *slot = present(fd);
    if (slot) DFT__SET(*slot, DFT__FD_UNKNOWN);
    else fd |= DFT__FD_BLOCK - 1; /* on to the next block */
  }
}

/* The path behind a reference of this session; 0 when the entry has none. */
static size_t text_of(dft__fd_entry entry, const char **text) {
  const dft__name *name;
  if (entry < DFT__FD_FIRST_REF || (uint32_t)(entry >> 32) != (uint32_t)dft__self.session) return 0;
  name = (const dft__name *)(dft__self.base + (uint64_t)(uint32_t)entry * 16);
  *text = name->text;
  return name->len;
}

void dft__fd_renamed(const char *path, size_t len) {
  int most = DFT__GET(highest);
  for (int fd = 0; fd <= most; fd++) {
    _Atomic dft__fd_entry *slot = present((unsigned)fd);
    dft__fd_entry entry = slot ? DFT__GET(*slot) : DFT__FD_UNKNOWN;
    const char *text = "";
    size_t text_len = text_of(entry, &text);
    if (text_len >= len && memcmp(text, path, len) == 0 && (text_len == len || text[len] == '/'))
      atomic_compare_exchange_strong(slot, &entry, DFT__FD_IN);
  }
}

static char *put_number(char *at, unsigned number) {
  if (number >= 10) at = put_number(at, number / 10);
  *at = (char)('0' + number % 10);
  return at + 1;
}

/* Takes off the kernel's " (deleted)", unless the file exists and is really called that. */
static size_t without_mark(int fd, const char *text, size_t len) {
  static const char mark[] = " (deleted)";
  const size_t mark_len = sizeof mark - 1;
  struct stat facts;
  uint64_t before;
  if (len <= mark_len || memcmp(text + len - mark_len, mark, mark_len) != 0) return len;
  before = dft__signals_block();
  if (fstat(fd, &facts) == 0 && facts.st_nlink == 0) len -= mark_len;
  dft__signals_restore(before);
  return len;
}

/* Pipes, sockets and other files without a path are recognised at once; /proc takes ten times as long. Ordinary files
 * are not asked for their file system, which may be far away: they can seek. */
static int has_no_path(int fd) {
  struct statfs facts;
  return syscall(SYS_lseek, fd, 0, SEEK_CUR) == -1 && errno == ESPIPE && syscall(SYS_fstatfs, fd, &facts) == 0 &&
         (facts.f_type == PIPEFS_MAGIC || facts.f_type == SOCKFS_MAGIC || facts.f_type == ANON_INODE_FS_MAGIC);
}

size_t dft__fd_text(int fd, char *text, size_t room) {
  char link[32] = "/proc/self/fd/";
  const char *known = "";
  const _Atomic dft__fd_entry *slot = fd < 0 ? NULL : dft__fd_slot(fd);
  size_t len = slot ? text_of(DFT__GET(*slot), &known) : 0;
  long got;
  if (len && len < room) {
    memcpy(text, known, len);
    return len;
  }
  if (fd < 0 || has_no_path(fd)) return 0;
  *put_number(link + 14, (unsigned)fd) = '\0';
  got = syscall(SYS_readlinkat, AT_FDCWD, link, text, room - 1);
  if (got <= 0 || text[0] != '/') return 0; /* a socket, a pipe */
  return without_mark(fd, text, (size_t)got);
}
