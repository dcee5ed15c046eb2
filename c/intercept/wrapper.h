/* wrapper.h - turns a row of calls.inc into a wrapper. For the files that define wrappers.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_WRAPPER_H
#define DFT_WRAPPER_H

#include <aio.h>
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <utime.h>

#include "call.h"

_Static_assert(sizeof(off_t) == 8, "the 64 forms are aliases only if off_t has 64 bits");

/* Declares `real`. */
#define DFT__REAL(symbol) \
  __typeof__(&dft__io_##symbol) real = (__typeof__(&dft__io_##symbol))dft__real(DFT__SYMBOL_##symbol)

/* The descriptor of a stream, without taking its lock; below zero if it has none. Streams in memory keep 0 as their
 * number, so the kind of the stream is checked, as fileno does. */
#define DFT__STREAM_OF_FILE 0x2000 /* _IO_IS_FILEBUF inside the C library */
static inline int dft__stream_fd(FILE *stream) {
  return stream && stream->_flags & DFT__STREAM_OF_FILE ? stream->_fileno : -1;
}
static inline int dft__stream_error(FILE *stream) {
  return stream && ferror_unlocked(stream) ? errno : 0;
}
/* The bytes that fgets stored, which may contain zeros. If neither the end of the file nor an error stopped it, the line
 * has a newline or fills the buffer; the newline is then the first one there, and only bytes that were stored are looked
 * at. Otherwise only the zero behind the line tells its end. */
static inline size_t dft__line_bytes(const char *line, int count, FILE *stream) {
  size_t text = strlen(line);
  const char *end;
  if (DFT__LIKELY(text && line[text - 1] == '\n')) return text;
  if (feof_unlocked(stream) || ferror_unlocked(stream)) return text;
  end = memchr(line, '\n', (size_t)count - 1);
  return end ? (size_t)(end - line) + 1 : (size_t)count - 1;
}

/* ---- Subjects: nonzero when the call has to be timed ---- */
#define DFT__ON_FD(fd) dft__io_fd(&io, fd)
#define DFT__ON_TWO_FDS(from, to) dft__io_two_fds(&io, from, to)
#define DFT__ON_PATH(path) dft__io_at(&io, AT_FDCWD, path)
#define DFT__ON_AT(dir, path) dft__io_at(&io, dir, path)
#define DFT__ON_TWO_PATHS(dir, path, to_dir, to) dft__io_two_paths(&io, dir, path, to_dir, to)
#define DFT__ON_STREAM(stream) dft__io_fd(&io, dft__stream_fd(stream))
#define DFT__ON_ANY dft__io_any(&io)
#define DFT__ON_PROCESS dft__io_process(&io)

/* ---- Subjects: nonzero when the call is certainly not recorded ---- */
#define DFT__PAST_FD(fd) dft__fd_is_out(fd)
#define DFT__PAST_TWO_FDS(from, to) (dft__fd_is_out(from) && dft__fd_is_out(to))
#define DFT__PAST_PATH(path) 0
#define DFT__PAST_AT(dir, path) 0
#define DFT__PAST_TWO_PATHS(dir, path, to_dir, to) 0
#define DFT__PAST_STREAM(stream) dft__fd_is_out(dft__stream_fd(stream))
#define DFT__PAST_ANY 0
#define DFT__PAST_PROCESS 0

/* ---- Subjects: the function that records the call ---- */
#define DFT__END_FD(fd) dft__io_end
#define DFT__END_TWO_FDS(from, to) dft__io_end
#define DFT__END_PATH(path) dft__io_end_path
#define DFT__END_AT(dir, path) dft__io_end_path
#define DFT__END_TWO_PATHS(dir, path, to_dir, to) dft__io_end
#define DFT__END_STREAM(stream) dft__io_end
#define DFT__END_ANY dft__io_end
#define DFT__END_PROCESS dft__io_end

/* ---- Results: what is recorded as `ret`, and the error ---- */
#define DFT__RESULT_INT (int64_t) ret, dft__io_error((int64_t)ret)
#define DFT__RESULT_CODE ret ? -1 : 0, ret
#define DFT__RESULT_NONZERO ret ? -1 : 0, ret ? errno : 0
#define DFT__RESULT_POINTER ret ? 0 : -1, ret ? 0 : errno
/* EOF means the end of the file, or an error of the stream. */
#define DFT__RESULT_CHARACTER(stream) ret, ret == EOF ? dft__stream_error(stream) : 0
#define DFT__RESULT_UNTIL_END(stream) ret, ret == -1 ? dft__stream_error(stream) : 0
/* A number of bytes; -1 when there was an error and no byte was moved. */
#define DFT__BYTES(bytes, error) (bytes) != 0 || !(error) ? (int64_t)(bytes) : -1, error
#define DFT__RESULT_LINE(count, stream) \
  DFT__BYTES(ret ? dft__line_bytes(ret, count, stream) : 0, ret ? 0 : dft__stream_error(stream))
#define DFT__RESULT_UP_TO(stream) DFT__BYTES(ret < 0 ? 0 : ret, ret < 0 ? dft__stream_error(stream) : 0)
#define DFT__RESULT_LENGTH(text) DFT__BYTES(ret < 0 ? 0 : strlen(text), ret < 0 ? errno : 0)
#define DFT__RESULT_LENGTH_1(text) DFT__BYTES(ret < 0 ? 0 : strlen(text) + 1, ret < 0 ? errno : 0)
#define DFT__RESULT_TIMES(size, count, stream) DFT__BYTES(ret *size, size &&ret < count ? dft__stream_error(stream) : 0)

/* ---- Items: their values ---- */
#define DFT__VALUES_A0 NULL
#define DFT__VALUES_A1(a) ((const int64_t[]){(int64_t)(a)})
#define DFT__VALUES_A2(a, b) ((const int64_t[]){(int64_t)(a), (int64_t)(b)})
#define DFT__VALUES_A3(a, b, c) ((const int64_t[]){(int64_t)(a), (int64_t)(b), (int64_t)(c)})
#define DFT__VALUES_A4(a, b, c, d) ((const int64_t[]){(int64_t)(a), (int64_t)(b), (int64_t)(c), (int64_t)(d)})

/* Two functions: a call that is not recorded needs no stack, so the compiler makes its path a jump. */
#define DFT__WRAP(plain, type, symbol, params, args, subject, result, items)                                        \
  type dft__io_##symbol params;                                                                                     \
  static __attribute__((noinline)) type record_##symbol params {                                                    \
    DFT__REAL(symbol);                                                                                              \
    dft__io io;                                                                                                     \
    type ret;                                                                                                       \
    if (!DFT__ON_##subject) return real args;                                                                       \
    io.start = dft__clock_ticks();                                                                                  \
    ret = real args;                                                                                                \
    DFT__END_##subject(DFT__CALL_##plain, &io, DFT__RESULT_##result, DFT__VALUES_##items);                          \
    return ret;                                                                                                     \
  }                                                                                                                 \
  type dft__io_##symbol params {                                                                                    \
    __typeof__(&dft__io_##symbol) real = (__typeof__(&dft__io_##symbol))DFT__GET(dft__reals[DFT__SYMBOL_##symbol]); \
    return DFT__PAST_##subject && real ? real args : record_##symbol args;                                          \
  }

#endif
