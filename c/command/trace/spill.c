/* spill.c - what does not fit in memory.
 * SPDX-License-Identifier: MIT */
#include "spill.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_once_t is_opened = PTHREAD_ONCE_INIT;
static int file = -1;
static _Atomic int64_t end;
static _Atomic int first_error;
static uint64_t limit = SPILL_LIMIT;
static _Atomic uint64_t held;

const char *spill_folder(void) {
  const char *folder = getenv("TMPDIR");
  return folder && *folder ? folder : "/tmp";
}

static int fail(int error) {
  int none = 0;
  atomic_compare_exchange_strong(&first_error, &none, error ? error : EIO);
  return 0;
}

int spill_new_file(void) {
  char path[PATH_MAX];
  int fd;
  if (snprintf(path, sizeof path, "%s/dftracer-XXXXXX", spill_folder()) >= (int)sizeof path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  fd = mkostemp(path, O_CLOEXEC);
  if (fd >= 0) unlink(path);
  return fd;
}

static void open_file(void) {
  file = spill_new_file();
  if (file < 0) fail(errno);
}

int spill_write(int64_t *place, const void *bytes, size_t len) {
  const char *at = bytes;
  int64_t to;
  pthread_once(&is_opened, open_file);
  if (file < 0) return 0;
  if (*place == SPILL_NOWHERE) *place = atomic_fetch_add(&end, (int64_t)len);
  for (to = *place; len;) {
    ssize_t written = pwrite(file, at, len, to);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail(written ? errno : ENOSPC);
    at += written;
    to += written;
    len -= (size_t)written;
  }
  return 1;
}

int spill_read(int64_t place, void *bytes, size_t len) {
  char *at = bytes;
  while (len) {
    ssize_t got = pread(file, at, len, place);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail(got ? errno : EIO);
    at += got;
    place += got;
    len -= (size_t)got;
  }
  return 1;
}

int spill_error(void) {
  return atomic_load(&first_error);
}

/* ---- Memory --------------------------------------------------------------------------------------------------------- */

void spill_set_limit(uint64_t bytes) {
  limit = bytes;
}

void spill_hold(uint64_t bytes) {
  atomic_fetch_add(&held, bytes);
}

void spill_release(uint64_t bytes) {
  atomic_fetch_sub(&held, bytes);
}

int spill_is_within(uint64_t more, double share) {
  return (double)(atomic_load(&held) + more) <= share * (double)limit;
}
