/* mpifile.c - files that are open through MPI.
 * SPDX-License-Identifier: MIT */
#include "mpifile.h"

#include <dftracer/dft.h>

#include "../path.h"
#include "../pathfilter.h"
#include "handlemap.h"
#include "record/thread.h"

static dft__handle_map known DFT__LARGE;
static dft__mpifile files[DFT__HANDLE_PLACES] DFT__LARGE;
static _Atomic uint32_t lock;

static void judge(const char *text, size_t len, void *context) {
  dft__mpifile *file = context;
  file->is_out = !len || dft__filter_judge(text, len) != DFT__WANTED;
  if (!file->is_out) file->path = dft_path(text, len);
}

/* "ufs:/data/x" names the file system's driver first. A name with a slash or one letter before the colon does not. */
static const char *without_driver(const char *name) {
  size_t len = strcspn(name, ":/");
  return len > 1 && name[len] == ':' ? name + len + 1 : name;
}

dft__mpifile dft__mpifile_named(const char *name, int32_t access_mode) {
  dft__mpifile file = {.has_offsets = !(access_mode & dft__mpi.family.mode_sequential)};
  dft__path_with(AT_FDCWD, without_driver(name), judge, &file);
  file.session = dft__self.session;
  return file;
}

void dft__mpifile_opened(dft__word handle, const dft__mpifile *file) {
  uint32_t place;
  if (!dft__spin_lock(&lock)) return;
  place = dft__handle_find(&known, handle);
  if (place == DFT__HANDLE_PLACES) place = dft__handle_reserve(&known, handle);
  if (place < DFT__HANDLE_PLACES) {
    files[place] = *file;
    dft__handle_show(&known, place, handle);
  }
  dft__spin_unlock(&lock);
}

dft__mpifile *dft__mpifile_find(dft__word handle) {
  uint32_t place = dft__handle_find(&known, handle);
  return place < DFT__HANDLE_PLACES ? &files[place] : NULL;
}

void dft__mpifile_closed(dft__word handle) {
  if (!dft__spin_lock(&lock)) return;
  dft__handle_remove(&known, dft__handle_find(&known, handle));
  dft__spin_unlock(&lock);
}

int64_t dft__mpifile_offset(const dft__mpifile *file, dft__word handle, const int64_t *given) {
  int64_t offset = given ? *given : -1, in_bytes = -1;
  if (!file->has_offsets || (given && *given < 0)) return -1;
  if (!given && (!dft__mpi.file_get_position || dft__mpi.file_get_position(handle, &offset) != 0)) return -1;
  if (!file->has_view) return offset;
  if (!dft__mpi.file_get_byte_offset || dft__mpi.file_get_byte_offset(handle, offset, &in_bytes) != 0) return -1;
  return in_bytes;
}
