/* stream.c - calls that make and close streams, and those with variable arguments.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "wrapper.h"

/* The first eight characters of a mode, as the value of an item. */
static int64_t short_text(const char *text) {
  char kept[8] = "";
  int64_t value;
  if (text) memcpy(kept, text, strnlen(text, sizeof kept));
  memcpy(&value, kept, sizeof value);
  return value;
}

static FILE *opened(enum dft__call call, dft__io *io, FILE *stream, const char *mode) {
  int fd = dft__stream_fd(stream);
  dft__fd_entry entry = dft__io_end_path(call, io, stream ? fd : -1, stream ? 0 : errno,
                                         DFT__VALUES_A1(short_text(mode)));
  if (stream && fd >= 0) dft__fd_set(fd, dft__fd_entry_opened(io->subject[0].path, entry));
  return stream;
}

FILE *dft__io_fopen(const char *path, const char *mode);
FILE *dft__io_fopen(const char *path, const char *mode) {
  DFT__REAL(fopen);
  dft__io io;
  if (!dft__io_at(&io, AT_FDCWD, path)) return real(path, mode);
  io.start = dft__clock_ticks();
  return opened(DFT__CALL_fopen, &io, real(path, mode), mode);
}

FILE *dft__io_fdopen(int fd, const char *mode);
FILE *dft__io_fdopen(int fd, const char *mode) {
  DFT__REAL(fdopen);
  dft__io io;
  FILE *stream;
  if (!dft__io_fd(&io, fd)) return real(fd, mode);
  io.start = dft__clock_ticks();
  stream = real(fd, mode);
  dft__io_end(DFT__CALL_fdopen, &io, stream ? fd : -1, stream ? 0 : errno, DFT__VALUES_A1(short_text(mode)));
  return stream;
}

/* Without a path the file stays the same, and only its mode changes. */
FILE *dft__io_freopen(const char *path, const char *mode, FILE *stream);
FILE *dft__io_freopen(const char *path, const char *mode, FILE *stream) {
  DFT__REAL(freopen);
  dft__io io;
  if (!path || !stream) return real(path, mode, stream);
  if (!dft__io_at(&io, AT_FDCWD, path)) return real(path, mode, stream);
  dft__fd_take(dft__stream_fd(stream));
  io.start = dft__clock_ticks();
  return opened(DFT__CALL_freopen, &io, real(path, mode, stream), mode);
}

/* Its file has no name, or one that only the descriptor can tell. */
FILE *dft__io_tmpfile(void);
FILE *dft__io_tmpfile(void) {
  DFT__REAL(tmpfile);
  dft__io io;
  FILE *stream;
  if (!dft__io_process(&io)) return real();
  io.start = dft__clock_ticks();
  stream = real();
  if (!stream) {
    if (dft__filter_is_all()) dft__io_end(DFT__CALL_tmpfile, &io, -1, errno, NULL);
    return NULL;
  }
  dft__fd_take(dft__stream_fd(stream));
  if (dft__io_fd_slow(&io.subject[0], dft__stream_fd(stream))) {
    io.subjects = 1;
    dft__io_end(DFT__CALL_tmpfile, &io, dft__stream_fd(stream), 0, NULL);
  }
  return stream;
}

FILE *dft__io_popen(const char *command, const char *mode);
FILE *dft__io_popen(const char *command, const char *mode) {
  DFT__REAL(popen);
  dft__io io;
  FILE *stream;
  if (!dft__io_process(&io)) return real(command, mode);
  io.start = dft__clock_ticks();
  stream = real(command, mode);
  if (stream) dft__fd_set(dft__stream_fd(stream), DFT__FD_OUT_BELOW);
  dft__io_end(DFT__CALL_popen, &io, stream ? dft__stream_fd(stream) : -1, stream ? 0 : errno,
              DFT__VALUES_A1(short_text(mode)));
  return stream;
}

int dft__io_pclose(FILE *stream);
int dft__io_pclose(FILE *stream) {
  DFT__REAL(pclose);
  dft__io io;
  int ret;
  if (!dft__io_process(&io)) return real(stream);
  dft__fd_take(dft__stream_fd(stream));
  io.start = dft__clock_ticks();
  ret = real(stream);
  dft__io_end(DFT__CALL_pclose, &io, ret, dft__io_error(ret), NULL);
  return ret;
}

int dft__io_fclose(FILE *stream);
int dft__io_fclose(FILE *stream) {
  DFT__REAL(fclose);
  dft__io io;
  int is_timed = dft__io_fd(&io, dft__stream_fd(stream));
  int ret;
  if (is_timed) DFT__IO_KEEP_TEXT(io);
  if (dft__io_is_on()) dft__fd_take(dft__stream_fd(stream));
  io.start = is_timed ? dft__clock_ticks() : 0;
  ret = real(stream);
  if (is_timed) dft__io_end(DFT__CALL_fclose, &io, ret, dft__io_error(ret), NULL);
  return ret;
}

void dft__io_rewind(FILE *stream);
void dft__io_rewind(FILE *stream) {
  DFT__REAL(rewind);
  dft__io io;
  int is_timed = dft__io_fd(&io, dft__stream_fd(stream));
  io.start = is_timed ? dft__clock_ticks() : 0;
  real(stream);
  if (is_timed) dft__io_end(DFT__CALL_rewind, &io, 0, 0, NULL);
}

/* ---- Variable arguments: the real function is the one that takes a va_list ------------------------------------------ */

#define REAL_OF(type, symbol) type real = (type)dft__real(DFT__SYMBOL_##symbol)

typedef int (*print_call)(FILE *, const char *, va_list);
typedef int (*print_checked_call)(FILE *, int, const char *, va_list);

static int print(enum dft__call call, FILE *stream, const char *format, va_list list) {
  REAL_OF(print_call, vfprintf);
  dft__io io;
  int ret;
  if (!dft__io_fd(&io, dft__stream_fd(stream))) return real(stream, format, list);
  io.start = dft__clock_ticks();
  ret = real(stream, format, list);
  dft__io_end(call, &io, ret, dft__io_error(ret), NULL);
  return ret;
}

static int print_checked(enum dft__call call, FILE *stream, int level, const char *format, va_list list) {
  REAL_OF(print_checked_call, __vfprintf_chk);
  dft__io io;
  int ret;
  if (!dft__io_fd(&io, dft__stream_fd(stream))) return real(stream, level, format, list);
  io.start = dft__clock_ticks();
  ret = real(stream, level, format, list);
  dft__io_end(call, &io, ret, dft__io_error(ret), NULL);
  return ret;
}

typedef int (*print_to_fd_call)(int, const char *, va_list);
typedef int (*print_to_fd_checked_call)(int, int, const char *, va_list);

static int print_to_fd(int fd, const char *format, va_list list) {
  REAL_OF(print_to_fd_call, vdprintf);
  dft__io io;
  int ret;
  if (!dft__io_fd(&io, fd)) return real(fd, format, list);
  io.start = dft__clock_ticks();
  ret = real(fd, format, list);
  dft__io_end(DFT__CALL_dprintf, &io, ret, dft__io_error(ret), NULL);
  return ret;
}

static int print_to_fd_checked(int fd, int level, const char *format, va_list list) {
  REAL_OF(print_to_fd_checked_call, __vdprintf_chk);
  dft__io io;
  int ret;
  if (!dft__io_fd(&io, fd)) return real(fd, level, format, list);
  io.start = dft__clock_ticks();
  ret = real(fd, level, format, list);
  dft__io_end(DFT__CALL_dprintf, &io, ret, dft__io_error(ret), NULL);
  return ret;
}

static int scan(enum dft__symbol symbol, FILE *stream, const char *format, va_list list) {
  print_call real = (print_call)dft__real(symbol);
  dft__io io;
  int ret;
  if (!dft__io_fd(&io, dft__stream_fd(stream))) return real(stream, format, list);
  io.start = dft__clock_ticks();
  ret = real(stream, format, list);
  dft__io_end(DFT__CALL_fscanf, &io, ret, ret == EOF ? dft__stream_error(stream) : 0, NULL);
  return ret;
}

/* symbol, parameters, the last named one, the call */
#define LISTED(symbol, params, last, call) \
  int dft__io_##symbol params;             \
  int dft__io_##symbol params {            \
    va_list list;                          \
    int ret;                               \
    va_start(list, last);                  \
    ret = call;                            \
    va_end(list);                          \
    return ret;                            \
  }

LISTED(fprintf, (FILE * stream, const char *format, ...), format, print(DFT__CALL_fprintf, stream, format, list))
LISTED(printf, (const char *format, ...), format, print(DFT__CALL_printf, stdout, format, list))
LISTED(__fprintf_chk, (FILE * stream, int level, const char *format, ...), format,
       print_checked(DFT__CALL_fprintf, stream, level, format, list))
LISTED(__printf_chk, (int level, const char *format, ...), format,
       print_checked(DFT__CALL_printf, stdout, level, format, list))
LISTED(dprintf, (int fd, const char *format, ...), format, print_to_fd(fd, format, list))
LISTED(__dprintf_chk, (int fd, int level, const char *format, ...), format,
       print_to_fd_checked(fd, level, format, list))
LISTED(fscanf, (FILE * stream, const char *format, ...), format, scan(DFT__SYMBOL_vfscanf, stream, format, list))
LISTED(__isoc99_fscanf, (FILE * stream, const char *format, ...), format,
       scan(DFT__SYMBOL___isoc99_vfscanf, stream, format, list))
LISTED(__isoc23_fscanf, (FILE * stream, const char *format, ...), format,
       scan(DFT__SYMBOL___isoc23_vfscanf, stream, format, list))
