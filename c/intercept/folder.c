/* folder.c - renaming, the working folder, and reading folders.
 * SPDX-License-Identifier: MIT */
#include <string.h>
#include <unistd.h>

#include "wrapper.h"

/* ---- Renaming ----------------------------------------------------------------------------------------------------- */

static void forget_name(const char *text, size_t len, void *unused) {
  (void)unused;
  if (len) dft__fd_renamed(text, len);
}

/* Open files are recorded under their new name from now on. */
static int renamed(enum dft__call call, dft__io *io, int ret, const int64_t *values) {
  dft__io_end(call, io, ret, dft__io_error(ret), values);
  if (ret == 0) {
    int saved = errno;
    dft__path_with(io->subject[0].fd, io->subject[0].path, forget_name, NULL);
    errno = saved;
  }
  return ret;
}

int dft__io_rename(const char *path, const char *to);
int dft__io_rename(const char *path, const char *to) {
  DFT__REAL(rename);
  dft__io io;
  if (!dft__io_two_paths(&io, AT_FDCWD, path, AT_FDCWD, to)) return real(path, to);
  io.start = dft__clock_ticks();
  return renamed(DFT__CALL_rename, &io, real(path, to), NULL);
}

int dft__io_renameat(int dir, const char *path, int to_dir, const char *to);
int dft__io_renameat(int dir, const char *path, int to_dir, const char *to) {
  DFT__REAL(renameat);
  dft__io io;
  if (!dft__io_two_paths(&io, dir, path, to_dir, to)) return real(dir, path, to_dir, to);
  io.start = dft__clock_ticks();
  return renamed(DFT__CALL_renameat, &io, real(dir, path, to_dir, to), NULL);
}

int dft__io_renameat2(int dir, const char *path, int to_dir, const char *to, unsigned flags);
int dft__io_renameat2(int dir, const char *path, int to_dir, const char *to, unsigned flags) {
  DFT__REAL(renameat2);
  dft__io io;
  if (!dft__io_two_paths(&io, dir, path, to_dir, to)) return real(dir, path, to_dir, to, flags);
  io.start = dft__clock_ticks();
  return renamed(DFT__CALL_renameat2, &io, real(dir, path, to_dir, to, flags), DFT__VALUES_A1(flags));
}

/* ---- The working folder -------------------------------------------------------------------------------------------- */

int dft__io_chdir(const char *path);
int dft__io_chdir(const char *path) {
  DFT__REAL(chdir);
  dft__io io;
  int ret;
  if (!dft__io_at(&io, AT_FDCWD, path)) {
    if (!(dft__hush & DFT__HUSH_VFORK)) dft__path_changed_cwd();
    return real(path);
  }
  io.start = dft__clock_ticks();
  ret = real(path);
  if (ret == 0) {
    dft__path_changed_cwd();
    io.subject[0].path = "."; /* the folder that it led to */
  }
  dft__io_end_path(DFT__CALL_chdir, &io, ret, dft__io_error(ret), NULL);
  return ret;
}

int dft__io_fchdir(int fd);
int dft__io_fchdir(int fd) {
  DFT__REAL(fchdir);
  dft__io io;
  int is_timed = dft__io_fd(&io, fd);
  int ret;
  io.start = is_timed ? dft__clock_ticks() : 0;
  ret = real(fd);
  if (!(dft__hush & DFT__HUSH_VFORK)) dft__path_changed_cwd();
  if (is_timed) dft__io_end(DFT__CALL_fchdir, &io, ret, dft__io_error(ret), NULL);
  return ret;
}

static void got_folder(dft__io *io, const char *ret, size_t count) {
  io->subject[0].path = ".";
  io->subject[0].fd = AT_FDCWD;
  dft__io_end(DFT__CALL_getcwd, io, ret ? 0 : -1, ret ? 0 : errno, DFT__VALUES_A1(count));
}

char *dft__io_getcwd(char *to, size_t count);
char *dft__io_getcwd(char *to, size_t count) {
  DFT__REAL(getcwd);
  dft__io io;
  char *ret;
  if (!dft__io_at(&io, AT_FDCWD, ".")) return real(to, count);
  io.start = dft__clock_ticks();
  ret = real(to, count);
  got_folder(&io, ret, count);
  return ret;
}

char *dft__io___getcwd_chk(char *to, size_t count, size_t room);
char *dft__io___getcwd_chk(char *to, size_t count, size_t room) {
  DFT__REAL(__getcwd_chk);
  dft__io io;
  char *ret;
  if (!dft__io_at(&io, AT_FDCWD, ".")) return real(to, count, room);
  io.start = dft__clock_ticks();
  ret = real(to, count, room);
  got_folder(&io, ret, count);
  return ret;
}

/* ---- Reading folders ----------------------------------------------------------------------------------------------- */

/* dirfd() leaves errno alone for streams that are open. */
static int folder_fd(DIR *stream) {
  return stream ? dirfd(stream) : -1;
}

DIR *dft__io_opendir(const char *path);
DIR *dft__io_opendir(const char *path) {
  DFT__REAL(opendir);
  dft__io io;
  DIR *stream;
  dft__fd_entry entry;
  if (!dft__io_at(&io, AT_FDCWD, path)) return real(path);
  io.start = dft__clock_ticks();
  stream = real(path);
  entry = dft__io_end_path(DFT__CALL_opendir, &io, stream ? folder_fd(stream) : -1, stream ? 0 : errno, NULL);
  if (stream) dft__fd_set(folder_fd(stream), entry);
  return stream;
}

DIR *dft__io_fdopendir(int fd);
DIR *dft__io_fdopendir(int fd) {
  DFT__REAL(fdopendir);
  dft__io io;
  DIR *stream;
  if (!dft__io_fd(&io, fd)) return real(fd);
  io.start = dft__clock_ticks();
  stream = real(fd);
  dft__io_end(DFT__CALL_fdopendir, &io, stream ? fd : -1, stream ? 0 : errno, NULL);
  return stream;
}

/* NULL means the end, unless errno was set; so errno has to be 0 before the call. */
struct dirent *dft__io_readdir(DIR *stream);
struct dirent *dft__io_readdir(DIR *stream) {
  DFT__REAL(readdir);
  dft__io io;
  struct dirent *found;
  int saved = errno, error;
  if (!stream || !dft__io_fd(&io, folder_fd(stream))) return real(stream);
  io.start = dft__clock_ticks();
  errno = 0;
  found = real(stream);
  error = found ? 0 : errno;
  if (!errno) errno = saved;
  dft__io_end(DFT__CALL_readdir, &io, found ? 1 : error ? -1 : 0, error, NULL);
  return found;
}

void dft__io_rewinddir(DIR *stream);
void dft__io_rewinddir(DIR *stream) {
  DFT__REAL(rewinddir);
  dft__io io;
  int is_timed = stream && dft__io_fd(&io, folder_fd(stream));
  io.start = is_timed ? dft__clock_ticks() : 0;
  real(stream);
  if (is_timed) dft__io_end(DFT__CALL_rewinddir, &io, 0, 0, NULL);
}

int dft__io_closedir(DIR *stream);
int dft__io_closedir(DIR *stream) {
  DFT__REAL(closedir);
  dft__io io;
  int is_timed = stream && dft__io_fd(&io, folder_fd(stream));
  int ret;
  if (is_timed) DFT__IO_KEEP_TEXT(io);
  if (stream && dft__io_is_on()) dft__fd_take(folder_fd(stream));
  io.start = is_timed ? dft__clock_ticks() : 0;
  ret = real(stream);
  if (is_timed) dft__io_end(DFT__CALL_closedir, &io, ret, dft__io_error(ret), NULL);
  return ret;
}
