/* file.c - bytes to a file, safely.
 * SPDX-License-Identifier: MIT */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "heldfolder.h"

/* O_NONBLOCK means nothing for files; a FIFO put in their place is an error then, instead of a wait. */
#define OPEN_FLAGS (O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

static int open_file(const char *path, int more_flags) {
  int fd;
  do fd = dft__held_open(path, OPEN_FLAGS | more_flags, 0666);
  while (fd < 0 && errno == EINTR);
  return fd;
}

/* Network file systems report only here that there was no space. After EINTR Linux has closed it. */
static dft_status close_file(int fd) {
  return close(fd) == 0 || errno == EINTR ? DFT_OK : dft__status_of(errno);
}

static dft_status cut(int fd, uint64_t length) {
  int result;
  do result = ftruncate(fd, (off_t)length);
  while (result < 0 && errno == EINTR);
  return result == 0 ? DFT_OK : dft__status_of(errno);
}

dft_status dft__file_begin(const char *path, uint64_t length) {
  struct stat facts;
  dft_status status, close_status;
  int fd = -1;
  if (length == 0) fd = open_file(path, O_CREAT | O_EXCL);
  if (fd >= 0) return close_file(fd);
  if (length == 0 && errno != EEXIST) return dft__status_of(errno);
  fd = open_file(path, 0);
  if (fd < 0) return dft__status_of(errno);
  /* A second name would be somebody else's file; ftruncate must not lengthen: what is missing is lost. */
  if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_nlink > 1 || (uint64_t)facts.st_size < length) {
    status = DFT_EIO;
  } else {
    status = cut(fd, length);
  }
  close_status = close_file(fd);
  return status != DFT_OK ? status : close_status;
}

/* Writing beyond the limit would send SIGXFSZ, which ends the program. */
static int is_over_limit(uint64_t length, size_t bytes) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
  return length > limit.rlim_cur || bytes > limit.rlim_cur - length;
}

static dft_status write_all(int fd, uint64_t length, const char *data, size_t bytes) {
  struct stat facts;
  /* Somebody cut the file: writing now would leave a hole of zeros in it. */
  if (fstat(fd, &facts) != 0 || (S_ISREG(facts.st_mode) && (uint64_t)facts.st_size < length)) return DFT_EIO;
  while (bytes) {
    ssize_t written = pwrite(fd, data, bytes, (off_t)length);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return dft__status_of(errno);
    if (written == 0) return DFT_EIO;
    data += written;
    length += (uint64_t)written;
    bytes -= (size_t)written;
  }
  return DFT_OK;
}

/* Writes, and closes. */
static dft_status append_to(int fd, const char *path, uint64_t length, const void *data, size_t bytes) {
  dft_status status, close_status;
  status = write_all(fd, length, data, bytes);
  close_status = close_file(fd);
  if (status == DFT_OK) status = close_status;
  if (status != DFT_OK && (fd = open_file(path, 0)) >= 0) {
    struct stat facts;
    if (fstat(fd, &facts) == 0 && (uint64_t)facts.st_size > length) cut(fd, length);
    close_file(fd);
  }
  return status;
}

dft_status dft__file_append(const char *path, uint64_t length, const void *data, size_t bytes) {
  int fd;
  if (is_over_limit(length, bytes)) return DFT_ENOSPC;
  fd = open_file(path, 0);
  return fd < 0 ? dft__status_of(errno) : append_to(fd, path, length, data, bytes);
}

dft_status dft__file_first(const char *path, const void *data, size_t bytes) {
  dft_status status;
  int fd;
  if (is_over_limit(0, bytes)) return DFT_ENOSPC;
  fd = open_file(path, O_CREAT | O_EXCL);
  if (fd >= 0) return append_to(fd, path, 0, data, bytes);
  status = dft__file_begin(path, 0);
  return status == DFT_OK ? dft__file_append(path, 0, data, bytes) : status;
}
