/* open.c - calls that make, copy and close descriptors, and so change the table of descriptors.
 *
 * A descriptor is forgotten before the real call closes it. Afterwards another thread may already have its number.
 * SPDX-License-Identifier: MIT */
#include <linux/openat2.h>
#include <string.h>
#include <unistd.h>

#include "wrapper.h"

static int is_nameless(int64_t flags) {
  return (flags & O_TMPFILE) == O_TMPFILE;
}

/* A file without a name (O_TMPFILE) is recorded with the path of its folder. */
static __attribute__((noinline)) int opened_seen(enum dft__call call, uint64_t start, int dir, const char *path, int fd,
                                                 int64_t flags, int64_t mode, size_t seen) {
  dft__io io;
  const int64_t values[] = {flags, flags & O_CREAT || is_nameless(flags) ? mode : 0};
  const int64_t *recorded = call == DFT__CALL_creat ? &values[1] : values;
  dft__fd_entry entry = DFT__FD_OUT_BELOW;
  io.start = start;
  io.subjects = 1;
  io.subject[0].path = path;
  io.subject[0].fd = dir;
  if (fd < 0) dft__io_end_path(call, &io, fd, dft__io_error(fd), recorded);
  else if (seen) entry = dft__io_end_seen(call, &io, fd, 0, recorded, seen);
  if (is_nameless(flags)) entry = DFT__FD_UNKNOWN;
  if (fd >= 0) dft__fd_set(fd, dft__fd_entry_opened(path, entry));
  return fd;
}

/* Every opening call, after the real one has returned. Paths that are not recorded end here. */
static inline int opened(enum dft__call call, uint64_t start, int dir, const char *path, int fd, int64_t flags,
                         int64_t mode) {
  size_t seen = DFT__LIKELY(fd >= 0) ? dft__filter_look(path) : PATH_MAX;
  if (seen || (unsigned)fd >= DFT__FD_BLOCK || is_nameless(flags))
    return opened_seen(call, start, dir, path, fd, flags, mode, seen);
  DFT__SET(dft__fd_first[fd], dft__fd_entry_opened(path, DFT__FD_OUT_BELOW));
  return fd;
}

/* Declared without "...", which would save all registers. A mode, if there is one, comes in the third. */
int dft__io_open(const char *path, int flags, mode_t mode);
int dft__io_open(const char *path, int flags, mode_t mode) {
  int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dft__real(DFT__SYMBOL_open);
  uint64_t start;
  if (!dft__io_is_on()) return real(path, flags, mode);
  start = dft__clock_ticks();
  return opened(DFT__CALL_open, start, AT_FDCWD, path, real(path, flags, mode), flags, mode);
}

int dft__io___open_2(const char *path, int flags);
int dft__io___open_2(const char *path, int flags) {
  DFT__REAL(__open_2);
  uint64_t start;
  if (!dft__io_is_on()) return real(path, flags);
  start = dft__clock_ticks();
  return opened(DFT__CALL_open, start, AT_FDCWD, path, real(path, flags), flags, 0);
}

int dft__io_openat(int dir, const char *path, int flags, mode_t mode);
int dft__io_openat(int dir, const char *path, int flags, mode_t mode) {
  int (*real)(int, const char *, int, ...) = (int (*)(int, const char *, int, ...))dft__real(DFT__SYMBOL_openat);
  uint64_t start;
  if (!dft__io_is_on()) return real(dir, path, flags, mode);
  start = dft__clock_ticks();
  return opened(DFT__CALL_openat, start, dir, path, real(dir, path, flags, mode), flags, mode);
}

int dft__io___openat_2(int dir, const char *path, int flags);
int dft__io___openat_2(int dir, const char *path, int flags) {
  DFT__REAL(__openat_2);
  uint64_t start;
  if (!dft__io_is_on()) return real(dir, path, flags);
  start = dft__clock_ticks();
  return opened(DFT__CALL_openat, start, dir, path, real(dir, path, flags), flags, 0);
}

int dft__io_creat(const char *path, mode_t mode);
int dft__io_creat(const char *path, mode_t mode) {
  DFT__REAL(creat);
  uint64_t start;
  if (!dft__io_is_on()) return real(path, mode);
  start = dft__clock_ticks();
  return opened(DFT__CALL_creat, start, AT_FDCWD, path, real(path, mode), O_CREAT, mode);
}

/* Most C libraries do not have it yet. */
static int openat2_call(int dir, const char *path, const struct open_how *how, size_t size) {
  int (*real)(int, const char *, const struct open_how *,
              size_t) = (int (*)(int, const char *, const struct open_how *, size_t))dft__real(DFT__SYMBOL_openat2);
  return real ? real(dir, path, how, size) : (int)syscall(SYS_openat2, dir, path, how, size);
}

int dft__io_openat2(int dir, const char *path, const struct open_how *how, size_t size);
int dft__io_openat2(int dir, const char *path, const struct open_how *how, size_t size) {
  uint64_t start;
  int fd;
  if (!dft__io_is_on()) return openat2_call(dir, path, how, size);
  start = dft__clock_ticks();
  fd = openat2_call(dir, path, how, size);
  if (fd < 0) return opened(DFT__CALL_openat2, start, dir, path, fd, 0, 0); /* `how` may be a bad pointer */
  return opened(DFT__CALL_openat2, start, dir, path, fd, (int64_t)how->flags, (int64_t)how->mode);
}

/* ---- Closing ------------------------------------------------------------------------------------------------------ */

int dft__io_close(int fd);
static __attribute__((noinline)) int record_close(int fd) {
  DFT__REAL(close);
  dft__io io;
  int ret;
  if (!dft__io_fd(&io, fd)) {
    if (dft__io_is_on()) dft__fd_take(fd);
    return real(fd);
  }
  DFT__IO_KEEP_TEXT(io);
  dft__fd_take(fd);
  io.start = dft__clock_ticks();
  ret = real(fd);
  dft__io_end(DFT__CALL_close, &io, ret, dft__io_error(ret), NULL);
  return ret;
}

int dft__io_close(int fd) {
  int (*real)(int) = (int (*)(int))DFT__GET(dft__reals[DFT__SYMBOL_close]);
  if (!dft__fd_is_out(fd) || !real || !dft__io_is_usual()) return record_close(fd);
  DFT__SET(dft__fd_first[fd], DFT__FD_UNKNOWN);
  return real(fd);
}

int dft__io_close_range(unsigned first, unsigned last, int flags);
int dft__io_close_range(unsigned first, unsigned last, int flags) {
  DFT__REAL(close_range);
  dft__io io;
  int ret;
  if (!dft__io_is_on()) return real(first, last, flags);
  if (!(flags & (1 << 2))) dft__fd_forget(first, last); /* CLOSE_RANGE_CLOEXEC closes nothing */
  if (!dft__io_any(&io)) return real(first, last, flags);
  io.start = dft__clock_ticks();
  ret = real(first, last, flags);
  dft__io_end(DFT__CALL_close_range, &io, ret, dft__io_error(ret), DFT__VALUES_A3(first, last, flags));
  return ret;
}

void dft__io_closefrom(int first);
void dft__io_closefrom(int first) {
  DFT__REAL(closefrom);
  dft__io io;
  if (!dft__io_is_on()) {
    real(first);
    return;
  }
  dft__fd_forget(first < 0 ? 0 : (unsigned)first, UINT_MAX);
  io.start = dft__clock_ticks();
  real(first);
  if (dft__io_any(&io)) dft__io_end(DFT__CALL_closefrom, &io, 0, 0, DFT__VALUES_A1(first));
}

/* ---- Copies ------------------------------------------------------------------------------------------------------- */

/* The new number takes over the entry of the old one. The file that it had before is closed. */
static int copied(enum dft__call call, dft__io *io, int is_timed, int from, int to, const int64_t *values) {
  const _Atomic dft__fd_entry *slot = from < 0 ? NULL : dft__fd_slot(from);
  if (to >= 0 && to != from) dft__fd_set(to, slot ? DFT__GET(*slot) : DFT__FD_UNKNOWN);
  if (is_timed) dft__io_end(call, io, to, dft__io_error(to), values);
  return to;
}

int dft__io_dup(int fd);
int dft__io_dup(int fd) {
  DFT__REAL(dup);
  dft__io io;
  int is_timed = dft__io_fd(&io, fd);
  if (!is_timed && !dft__io_is_on()) return real(fd);
  io.start = dft__clock_ticks();
  return copied(DFT__CALL_dup, &io, is_timed, fd, real(fd), NULL);
}

int dft__io_dup2(int fd, int to);
int dft__io_dup2(int fd, int to) {
  DFT__REAL(dup2);
  dft__io io;
  int is_timed = dft__io_fd(&io, fd);
  if (!is_timed && !dft__io_is_on()) return real(fd, to);
  io.start = dft__clock_ticks();
  return copied(DFT__CALL_dup2, &io, is_timed, fd, real(fd, to), DFT__VALUES_A1(to));
}

int dft__io_dup3(int fd, int to, int flags);
int dft__io_dup3(int fd, int to, int flags) {
  DFT__REAL(dup3);
  dft__io io;
  int is_timed = dft__io_fd(&io, fd);
  if (!is_timed && !dft__io_is_on()) return real(fd, to, flags);
  io.start = dft__clock_ticks();
  return copied(DFT__CALL_dup3, &io, is_timed, fd, real(fd, to, flags), DFT__VALUES_A2(to, flags));
}

/* The third argument is passed on as a word, as the C library does. */
int dft__io_fcntl(int fd, int command, ...);
int dft__io_fcntl(int fd, int command, ...) {
  DFT__REAL(fcntl);
  dft__io io;
  va_list list;
  void *argument;
  int is_timed, ret;
  va_start(list, command);
  argument = va_arg(list, void *);
  va_end(list);
  is_timed = dft__io_fd(&io, fd);
  if (!is_timed && !dft__io_is_on()) return real(fd, command, argument);
  io.start = dft__clock_ticks();
  ret = real(fd, command, argument);
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
    return copied(DFT__CALL_fcntl, &io, is_timed, fd, ret, DFT__VALUES_A2(command, (intptr_t)argument));
  if (is_timed) dft__io_end(DFT__CALL_fcntl, &io, ret, dft__io_error(ret), DFT__VALUES_A2(command, (intptr_t)argument));
  return ret;
}

/* ---- Without a path ------------------------------------------------------------------------------------------------ */

static int piped(enum dft__call call, dft__io *io, const int *ends, int ret, const int64_t *values) {
  if (ret == 0) {
    dft__fd_set(ends[0], DFT__FD_OUT_BELOW);
    dft__fd_set(ends[1], DFT__FD_OUT_BELOW);
  }
  if (dft__filter_is_all()) dft__io_end(call, io, ret, dft__io_error(ret), values);
  return ret;
}

int dft__io_pipe(int ends[2]);
int dft__io_pipe(int ends[2]) {
  DFT__REAL(pipe);
  dft__io io;
  if (!dft__io_process(&io)) return real(ends);
  io.start = dft__clock_ticks();
  return piped(DFT__CALL_pipe, &io, ends, real(ends), NULL);
}

int dft__io_pipe2(int ends[2], int flags);
int dft__io_pipe2(int ends[2], int flags) {
  DFT__REAL(pipe2);
  dft__io io;
  if (!dft__io_process(&io)) return real(ends, flags);
  io.start = dft__clock_ticks();
  return piped(DFT__CALL_pipe2, &io, ends, real(ends, flags), DFT__VALUES_A1(flags));
}

int dft__io_memfd_create(const char *name, unsigned flags);
int dft__io_memfd_create(const char *name, unsigned flags) {
  DFT__REAL(memfd_create);
  dft__io io;
  if (!dft__io_any(&io)) return real(name, flags);
  io.start = dft__clock_ticks();
  io.subject[0].path = NULL;
  io.subject[0].entry = DFT__FD_IN;
  io.subject[0].fd = real(name, flags);
  io.subjects = io.subject[0].fd >= 0;
  if (io.subjects) dft__fd_take(io.subject[0].fd);
  dft__io_end(DFT__CALL_memfd_create, &io, io.subject[0].fd, dft__io_error(io.subject[0].fd), DFT__VALUES_A1(flags));
  return io.subject[0].fd;
}

/* ---- Asynchronous: only the request is seen -------------------------------------------------------------------------- */

#define ASYNCHRONOUS(name)                                                                                             \
  int dft__io_##name(struct aiocb *block);                                                                             \
  int dft__io_##name(struct aiocb *block) {                                                                            \
    DFT__REAL(name);                                                                                                   \
    dft__io io;                                                                                                        \
    int ret;                                                                                                           \
    if (!dft__io_fd(&io, block->aio_fildes)) return real(block);                                                       \
    io.start = dft__clock_ticks();                                                                                     \
    ret = real(block);                                                                                                 \
    dft__io_end(DFT__CALL_##name, &io, ret, dft__io_error(ret), DFT__VALUES_A2(block->aio_nbytes, block->aio_offset)); \
    return ret;                                                                                                        \
  }
ASYNCHRONOUS(aio_read)
ASYNCHRONOUS(aio_write)
