/* test_full_disk.c - on a full file system an append fails as a whole, and works again once there is space.
 *
 * The file system is a tmpfs of 64 KiB in a mount namespace of this process, which ends with it.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "codec/file.h"

#define DISK_BYTES ((size_t)64 << 10)

static char folder[] = "/tmp/dftracer-full-XXXXXX";
static char path[sizeof folder + 16];
static char ballast[sizeof folder + 16];
static char bytes[2 * DISK_BYTES];

/* Nonzero when the folder is a small disk now. */
static int mount_small_disk(void) {
  if (unshare(CLONE_NEWNS) != 0) return 0;
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return 0;
  return mount("dftracer", folder, "tmpfs", 0, "size=64k,mode=700") == 0;
}

static uint64_t size_of(const char *name) {
  struct stat facts;
  CHECK_INT(stat(name, &facts), 0);
  return (uint64_t)facts.st_size;
}

static void an_append_that_does_not_fit_leaves_nothing(void) {
  CHECK_INT(dft__file_begin(path, 0), DFT_OK);
  CHECK_INT(dft__file_append(path, 0, bytes, 1000), DFT_OK);
  CHECK_INT(dft__file_append(path, 1000, bytes, sizeof bytes), DFT_ENOSPC);
  CHECK_UINT(size_of(path), 1000);
}

static void a_smaller_append_still_fits(void) {
  CHECK_INT(dft__file_append(path, 1000, bytes, 1000), DFT_OK);
  CHECK_UINT(size_of(path), 2000);
}

/* Full to the last page by somebody else. */
static void space_that_comes_back_is_used(void) {
  CHECK_INT(dft__file_begin(ballast, 0), DFT_OK);
  for (uint64_t len = 0; dft__file_append(ballast, len, bytes, 4096) == DFT_OK;) len += 4096;
  CHECK_INT(dft__file_append(path, 2000, bytes, 8192), DFT_ENOSPC);
  CHECK_UINT(size_of(path), 2000);
  CHECK_INT(unlink(ballast), 0);
  CHECK_INT(dft__file_append(path, 2000, bytes, 8192), DFT_OK);
  CHECK_UINT(size_of(path), 2000 + 8192);
}

/* Needs no file system of its own: every write to this device finds no space. */
static void the_full_device_is_a_full_disk(void) {
  CHECK_INT(dft__file_append("/dev/full", 0, bytes, 10), DFT_ENOSPC);
}

int main(void) {
  CHECK(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/trace", folder);
  snprintf(ballast, sizeof ballast, "%s/ballast", folder);
  the_full_device_is_a_full_disk();
  if (!mount_small_disk()) {
    rmdir(folder);
    SKIP("mounting a small disk needs root");
  }
  an_append_that_does_not_fit_leaves_nothing();
  a_smaller_append_still_fits();
  space_that_comes_back_is_used();
  CHECK_INT(umount2(folder, MNT_DETACH), 0);
  rmdir(folder);
  return 0;
}
