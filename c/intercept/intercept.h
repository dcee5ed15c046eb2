/* intercept.h - what the wrappers of POSIX and STDIO calls share.
 *
 * A wrapper asks whether the call is recorded (dft__io_fd and the like, a few loads), makes the real call, and hands
 * over what it saw (dft__io_end). Paths are looked at after the call: the kernel has then told whether they can be read. Nothing
 * is held across the real call, so that it may be cancelled, interrupted, or left by a long jump.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_INTERCEPT_H
#define DFT_INTERCEPT_H

#include <alloca.h>
#include <dftracer/dft.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>

#include "base/signals.h"
#include "record/thread.h"
#include "spool/clock.h"

/* ---- The table: c/intercept/calls.inc ---- */

typedef void (*dft__function)(void);

enum dft__call {
#define CALL(cat, type, name, params, args, subject, result, items) DFT__CALL_##name,
#define SPECIAL(cat, name, items) DFT__CALL_##name,
#include "calls.inc"
  DFT__CALL_COUNT,
};

enum dft__symbol {
#define CALL(cat, type, name, params, args, subject, result, items) DFT__SYMBOL_##name,
#define VARIANT(plain, type, symbol, params, args, subject, result, items) DFT__SYMBOL_##symbol,
#define SPECIAL(cat, name, items) DFT__SYMBOL_##name,
#define OTHER(plain, symbol) DFT__SYMBOL_##symbol,
#define ALIAS(plain, symbol) DFT__SYMBOL_##symbol,
#include "calls.inc"
  DFT__SYMBOL_COUNT,
};

/* The function a symbol stands for without us: looked up at its first use, without allocating. */
extern _Atomic(dft__function) dft__reals[DFT__SYMBOL_COUNT];
dft__function dft__real_find(enum dft__symbol symbol);
static inline dft__function dft__real(enum dft__symbol symbol) {
  dft__function real = DFT__GET(dft__reals[symbol]);
  return DFT__LIKELY(real != NULL) ? real : dft__real_find(symbol);
}
/* Nothing is recorded any more, or again: names lead past the wrappers, where they are not bound in place. */
void dft__symbols_step_aside(void);
void dft__symbols_put_back(void);
const char *dft__symbol_name(enum dft__symbol symbol);
dft__function dft__symbol_wrapper(enum dft__symbol symbol);

/* ---- Whether calls are recorded at all ---- */

enum dft__io_state {
  DFT__IO_UNDECIDED = 0,
  DFT__IO_ON = 1,
  DFT__IO_OFF = 2,
  DFT__IO_LOOK_AGAIN = 3, /* on, and something may have been loaded that is not bound */
};
extern _Atomic uint32_t dft__io_state;

/* The preload library is there; from its place in the order of libraries it finds what comes next. */
int dft__io_is_preloaded(void);

/* Not the usual case: nothing is decided yet, this thread is at work for us, or it was in a vfork. */
int dft__io_is_on_slow(void);
static inline int dft__io_is_usual(void) {
  return DFT__LIKELY(DFT__GET(dft__io_state) == DFT__IO_ON && !dft__hush);
}
static inline int dft__io_is_on(void) {
  if (dft__io_is_usual()) return 1;
  return DFT__GET(dft__io_state) != DFT__IO_OFF && dft__io_is_on_slow();
}

/* A session opens or closes; with the lock of session.c. */
void dft__io_session_opened(void);
void dft__io_session_closed(void);

/* ---- Descriptors ---- */

/* What is known of a descriptor: 0 nothing; or not recorded; or recorded, and then the session that the reference of its
 * path belongs to in the upper half. */
typedef uint64_t dft__entry;
#define DFT__FD_UNKNOWN 0u
#define DFT__FD_OUT 1u        /* not recorded, but something below it may be */
#define DFT__FD_OUT_BELOW 2u  /* not recorded, nor anything below it */
#define DFT__FD_IN 3u         /* recorded; the reference has to be looked up */
#define DFT__FD_FIRST_REF 16u /* references are never this small */
static inline dft__entry dft__entry_in(uint64_t session, uint32_t ref) {
  return session << 32 | ref;
}

#define DFT__FD_BLOCK 1024u
#define DFT__FD_BLOCKS 1024u
typedef _Atomic dft__entry dft__fd_block[DFT__FD_BLOCK];
extern dft__fd_block dft__fd_first;

/* NULL for numbers that are not kept. */
_Atomic dft__entry *dft__fd_slot_far(int fd);
static inline _Atomic dft__entry *dft__fd_slot(int fd) {
  if (DFT__LIKELY((unsigned)fd < DFT__FD_BLOCK)) return &dft__fd_first[fd];
  return dft__fd_slot_far(fd);
}
/* Surely not recorded, in whatever state: most calls of a program whose files are elsewhere end here. */
static inline int dft__fd_is_out(int fd) {
  if (DFT__UNLIKELY((unsigned)fd >= DFT__FD_BLOCK)) return 0;
  return DFT__GET(dft__fd_first[fd]) - DFT__FD_OUT <= DFT__FD_OUT_BELOW - DFT__FD_OUT;
}
/* There is a reference for a number so high. */
void dft__fd_reach(int fd);
static inline void dft__fd_set(int fd, dft__entry entry) {
  _Atomic dft__entry *slot = dft__fd_slot(fd);
  if (!slot) return;
  DFT__SET(*slot, entry);
  if (entry >= DFT__FD_FIRST_REF) dft__fd_reach(fd);
}
/* Forgets what is known of a descriptor, and returns it. */
static inline dft__entry dft__fd_take(int fd) {
  _Atomic dft__entry *slot = fd < 0 ? NULL : dft__fd_slot(fd);
  dft__entry known = slot ? DFT__GET(*slot) : DFT__FD_UNKNOWN;
  if (known != DFT__FD_UNKNOWN) DFT__SET(*slot, DFT__FD_UNKNOWN);
  return known;
}
void dft__fd_forget(unsigned first, unsigned last);
/* Those at this path, or below it, have another name now. */
void dft__fd_renamed(const char *path, size_t len);
/* The path of a descriptor; 0 when it has none. */
size_t dft__fd_text(int fd, char *text, size_t room);

/* ---- Paths ---- */

#define DFT__IO_PATH ((size_t)PATH_MAX + NAME_MAX) /* room for the text of one */
#define DFT__AS_IT_IS (-2000)                      /* in place of a folder's descriptor: the text is to stay as it is */

/* Absolute, without "." and ".."; cut to what fits. Zero when it cannot be known. */
size_t dft__path_absolute(int dir, const char *path, char *text);
void dft__path_changed_cwd(void);
/* Stands for an open descriptor (/dev/stdin, /proc/self/fd/3), or leads through one: its file may be anywhere. */
int dft__path_is_of_fd(const char *path);

enum dft__wanted { DFT__WANTED_NOT = 0, DFT__WANTED_BELOW = 1, DFT__WANTED = 2 };
enum dft__wanted dft__filter_judge(const char *path, size_t len);
/* Zero when a path is surely not recorded, nor anything below it. Else its length if that is known, or PATH_MAX. */
size_t dft__filter_look(const char *path);
/* Reads the settings; zero when no path could ever be recorded. With the lock of the session. */
int dft__filter_make(void);
int dft__filter_is_all(void);

/* ---- One call ---- */

typedef struct dft__subject {
  const char *path; /* NULL: the descriptor itself */
  dft__entry entry; /* of the descriptor; of no meaning with a path */
  int fd;           /* or the folder of the path */
} dft__subject;

typedef struct dft__io {
  uint64_t start, end;
  uint32_t subjects;
  dft__subject subject[2];
} dft__io;

/* What to keep of a descriptor that was opened by this path, of which `entry` is known. */
static inline dft__entry dft__entry_opened(const char *path, dft__entry entry) {
  int may_be = path[0] == '/' && (path[1] == 'd' || path[1] == 'p');
  return DFT__UNLIKELY(may_be) && dft__path_is_of_fd(path) ? DFT__FD_UNKNOWN : entry;
}

/* Each: whether the call is to be timed. */
int dft__io_fd_slow(dft__subject *subject, int fd);
static inline int dft__io_fd(dft__io *io, int fd) {
  _Atomic dft__entry *slot;
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
/* Before a call that closes its descriptor, which has no reference for want of room: its path, as text. */
void dft__io_keep_text(dft__io *io, char *text);
#define DFT__IO_KEEP_TEXT(io) \
  if (DFT__UNLIKELY((io).subject[0].entry == DFT__FD_IN)) dft__io_keep_text(&(io), alloca(DFT__IO_PATH))

/* errno is the error of a call that returned -1. */
static inline int dft__io_error(int64_t ret) {
  return ret == -1 ? errno : 0;
}

/* Records the call when its path is wanted; `values` in the order of the table's items. Returns what is now known of the
 * (first) subject, for a descriptor that the call made. errno stays. */
dft__entry dft__io_end(enum dft__call call, dft__io *io, int64_t ret, int error, const int64_t *values);
/* The same for a call on one path, of which `seen` is what dft__filter_look said. */
dft__entry dft__io_end_seen(enum dft__call call, dft__io *io, int64_t ret, int error, const int64_t *values,
                            size_t seen);
/* Most paths are not wanted, and then nobody asks for the time again. */
static inline dft__entry dft__io_end_path(enum dft__call call, dft__io *io, int64_t ret, int error,
                                          const int64_t *values) {
  const char *path = io->subject[0].path;
  size_t seen = DFT__LIKELY(error != EFAULT && path) ? dft__filter_look(path) : PATH_MAX;
  return seen ? dft__io_end_seen(call, io, ret, error, values, seen) : DFT__FD_OUT_BELOW;
}

/* A region for a call that returns only when it fails. 0 when the process has recorded nothing yet; a failure is recorded. */
dft_region dft__io_exec_begin(enum dft__call call, const char *path);
void dft__io_exec_end(enum dft__call call, const char *path, dft_region region);

#endif
