/* mapping.c - files mapped into memory.
 *
 * A small table keeps their ranges. While it is empty, munmap, msync and madvise only look at its count.
 * SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/mman.h>

#include "wrapper.h"

#define MAPPINGS_MOST 1024

static DFT__LARGE struct mapping {
  _Atomic uintptr_t start; /* 0: free; 1: being filled */
  uintptr_t end;
  dft__fd_entry entry;
} mappings[MAPPINGS_MOST];
static _Atomic uint32_t used; /* entries from here on are free */

static void note(uintptr_t start, size_t length, dft__fd_entry entry) {
  for (uint32_t i = 0; i < MAPPINGS_MOST; i++) {
    uintptr_t none = 0;
    uint32_t most = DFT__GET(used);
    if (!atomic_compare_exchange_strong(&mappings[i].start, &none, 1)) continue;
    mappings[i].end = start + length;
    mappings[i].entry = entry;
    while (i >= most && !atomic_compare_exchange_weak(&used, &most, i + 1)) continue;
    DFT__RELEASE(mappings[i].start, start);
    return;
  }
}

/* The mapping that an address lies in. */
static struct mapping *find(uintptr_t at) {
  uint32_t most = DFT__GET(used);
  for (uint32_t i = 0; i < most; i++) {
    uintptr_t start = DFT__ACQUIRE(mappings[i].start);
    if (start > 1 && at >= start && at < mappings[i].end) return &mappings[i];
  }
  return NULL;
}

/* Drops the mappings within a range. A mapping that is cut keeps what is left at its start. */
static void forget(uintptr_t start, size_t length) {
  uint32_t most = DFT__GET(used);
  for (uint32_t i = 0; i < most; i++) {
    uintptr_t from = DFT__ACQUIRE(mappings[i].start);
    if (from <= 1 || start >= mappings[i].end || start + length <= from) continue;
    if (start > from) mappings[i].end = start;
    else atomic_compare_exchange_strong(&mappings[i].start, &from, 0);
  }
}

void *dft__io_mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset);
void *dft__io_mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset) {
  DFT__REAL(mmap);
  dft__io io;
  void *ret;
  if (fd < 0 || flags & MAP_ANONYMOUS || !dft__io_fd(&io, fd)) return real(at, length, protection, flags, fd, offset);
  io.start = dft__clock_ticks();
  ret = real(at, length, protection, flags, fd, offset);
  if (ret != MAP_FAILED) note((uintptr_t)ret, length, io.subject[0].entry);
  dft__io_end(DFT__CALL_mmap, &io, ret == MAP_FAILED ? -1 : 0, ret == MAP_FAILED ? errno : 0,
              DFT__VALUES_A4(length, protection, flags, offset));
  return ret;
}

/* Whether the range begins in a file's mapping of this session. */
static int is_mapped(dft__io *io, const void *at) {
  const struct mapping *mapping;
  if (!DFT__GET(used) || !dft__io_is_on() || !(mapping = find((uintptr_t)at))) return 0;
  io->subjects = 1;
  io->subject[0].path = NULL;
  io->subject[0].fd = -1;
  io->subject[0].entry = mapping->entry;
  return 1;
}

int dft__io_munmap(void *at, size_t length);
int dft__io_munmap(void *at, size_t length) {
  DFT__REAL(munmap);
  dft__io io;
  int ret;
  if (!is_mapped(&io, at)) return real(at, length);
  forget((uintptr_t)at, length);
  io.start = dft__clock_ticks();
  ret = real(at, length);
  dft__io_end(DFT__CALL_munmap, &io, ret, dft__io_error(ret), DFT__VALUES_A1(length));
  return ret;
}

int dft__io_msync(void *at, size_t length, int flags);
int dft__io_msync(void *at, size_t length, int flags) {
  DFT__REAL(msync);
  dft__io io;
  int ret;
  if (!is_mapped(&io, at)) return real(at, length, flags);
  io.start = dft__clock_ticks();
  ret = real(at, length, flags);
  dft__io_end(DFT__CALL_msync, &io, ret, dft__io_error(ret), DFT__VALUES_A2(length, flags));
  return ret;
}

int dft__io_madvise(void *at, size_t length, int advice);
int dft__io_madvise(void *at, size_t length, int advice) {
  DFT__REAL(madvise);
  dft__io io;
  int ret;
  if (!is_mapped(&io, at)) return real(at, length, advice);
  io.start = dft__clock_ticks();
  ret = real(at, length, advice);
  dft__io_end(DFT__CALL_madvise, &io, ret, dft__io_error(ret), DFT__VALUES_A2(length, advice));
  return ret;
}
