/* call.h - one intercepted call, from its wrapper to its event.
 *
 * A wrapper asks whether the call is recorded (dft__io_fd and its siblings, a few loads), makes the real call, and
 * reports what it saw (dft__io_end). Paths are read after the call: by then the kernel has found out whether they are
 * readable. Only a call that failed may have failed before that. A wrapper holds nothing across the real call, so the call may be cancelled, interrupted, or left by a long
 * jump.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_CALL_H
#define DFT_CALL_H

#include <alloca.h>
#include <dftracer/dft.h>
#include <errno.h>

#include "descriptor.h"
#include "path.h"
#include "pathfilter.h"
#include "record/thread.h"
#include "spool/clock.h"
#include "state.h"

/* What a call works on. */
typedef struct dft__subject {
  const char *path;    /* NULL: the descriptor itself */
  dft__fd_entry entry; /* of the descriptor; not set when there is a path */
  int fd;              /* the descriptor, or the folder that the path starts from */
} dft__subject;

typedef struct dft__io {
  uint64_t start, end;
  uint32_t subjects;
  dft__subject subject[2];
} dft__io;

/* ---- Before the call. Each returns whether the call has to be timed. ---- */

int dft__io_fd_slow(dft__subject *subject, int fd);
static inline int dft__io_fd(dft__io *io, int fd) {
  _Atomic dft__fd_entry *slot;
  if (DFT__UNLIKELY(!dft__io_is_on())) return 0;
  slot = dft__fd_slot(fd);
  io->subjects = 1;
  io->subject[0].path = NULL;
  io->subject[0].fd = fd;
  io->subject[0].entry = slot ? DFT__GET(*slot) : DFT__FD_UNKNOWN;
  if (DFT__LIKELY((uint32_t)(io->subject[0].entry >> 32) == (uint32_t)dft__self.session)) return 1;
  if (io->subject[0].entry == DFT__FD_OUT || io->subject[0].entry == DFT__FD_OUT_BELOW) return 0;
  return dft__io_fd_slow(&io->subject[0], fd);
}
int dft__io_two_fds(dft__io *io, int from, int to);
static inline int dft__io_at(dft__io *io, int dir, const char *path) {
  io->subjects = 1;
  io->subject[0].path = path;
  io->subject[0].fd = dir;
  return dft__io_is_on();
}
static inline int dft__io_two_paths(dft__io *io, int dir, const char *path, int to_dir, const char *to) {
  io->subjects = 2;
  io->subject[0].path = path;
  io->subject[0].fd = dir;
  io->subject[1].path = to;
  io->subject[1].fd = to_dir;
  return dft__io_is_on();
}
static inline int dft__io_process(dft__io *io) {
  io->subjects = 0;
  return dft__io_is_on();
}
static inline int dft__io_any(dft__io *io) {
  return dft__io_process(io) && dft__filter_is_all();
}
/* For a call that closes its descriptor: if the path has no reference, because the names were full, or the file was renamed to a
 * place that is not recorded, keeps its text. It takes no more of the stack than it is long. */
size_t dft__io_text_bytes(const dft__io *io);
void dft__io_keep_text(dft__io *io, char *text, size_t room);
#define DFT__IO_KEEP_TEXT(io)                               \
  if (DFT__UNLIKELY((io).subject[0].entry == DFT__FD_IN)) { \
    size_t room = dft__io_text_bytes(&(io));                \
    dft__io_keep_text(&(io), alloca(room), room);           \
  }

/* ---- After the call ---- */

/* A call that returned -1 has its error in errno. */
static inline int dft__io_error(int64_t ret) {
  return ret == -1 ? errno : 0;
}

/* Records the call if its path is recorded; `values` are in the order of the row's items. Returns the entry of the
 * first subject, for a descriptor that the call made. Leaves errno alone. */
dft__fd_entry dft__io_end(enum dft__call call, dft__io *io, int64_t ret, int error, const int64_t *values);
/* The same for a call on one path; `seen` is what dft__filter_look returned. */
dft__fd_entry dft__io_end_seen(enum dft__call call, dft__io *io, int64_t ret, int error, const int64_t *values,
                               size_t seen);
/* The same for a call without a path, or one that may have failed before its path was read. */
dft__fd_entry dft__io_end_unread(enum dft__call call, dft__io *io, int64_t ret, int error, const int64_t *values);
/* Most paths are not recorded; then the clock is not read a second time. */
static inline dft__fd_entry dft__io_end_path(enum dft__call call, dft__io *io, int64_t ret, int error,
                                             const int64_t *values) {
  const char *path = io->subject[0].path;
  size_t seen;
  if (DFT__UNLIKELY((error && error != ENOENT) || !path)) return dft__io_end_unread(call, io, ret, error, values);
  seen = dft__filter_look(path);
  return seen ? dft__io_end_seen(call, io, ret, error, values, seen) : DFT__FD_OUT_BELOW;
}

/* The entry to keep for a descriptor that was opened by this path; `entry` is the path's. */
static inline dft__fd_entry dft__fd_entry_opened(const char *path, dft__fd_entry entry) {
  int may_be = path[0] == '/' && (path[1] == 'd' || path[1] == 'p');
  return DFT__UNLIKELY(may_be) && dft__path_is_of_fd(path) ? DFT__FD_UNKNOWN : entry;
}

/* ---- exec returns only when it fails, so its event is a region ---- */

/* Returns 0 when this process has recorded nothing yet. */
dft_region dft__io_exec_begin(enum dft__call call, const char *path);
/* The call failed. Records that, also when `region` is 0. */
void dft__io_exec_end(enum dft__call call, const char *path, dft_region region);

#endif
