/* segment.c - appends records, and gives back what became worthless.
 * SPDX-License-Identifier: MIT */
#include "segment.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/file.h"
#include "codec/heldfolder.h"

/* ---- The row of files --------------------------------------------------------------------------------------------- */

int dft__h5_segment_name(char *name, size_t size, const char *path, uint32_t number) {
  return snprintf(name, size, "%s-%04u", path, number) < (int)size;
}

/* The complete segments that lie before this byte, and how much they hold. Zero when they cannot be counted. */
static int count_before(const char *path, uint64_t length, uint32_t *number, uint64_t *start) {
  char name[PATH_MAX + 16];
  struct stat facts;
  *number = 0;
  *start = 0;
  while (dft__h5_segment_name(name, sizeof name, path, *number + 1)) {
    if (dft__held_stat(name, &facts) != 0) return errno == ENOENT;
    if ((uint64_t)facts.st_size > length - *start) return 1;
    *start += (uint64_t)facts.st_size;
    ++*number;
  }
  return 0;
}

dft_status dft__h5_segment_begin(const char *path, uint64_t length) {
  char name[PATH_MAX + 16];
  uint64_t start;
  uint32_t number;
  if (!count_before(path, length, &number, &start)) return DFT_EIO;
  if (!dft__h5_segment_name(name, sizeof name, path, number + 1)) return DFT_EINVAL;
  if (dft__held_rename(name, path) != 0 && errno != ENOENT) return DFT_EIO; /* its last append was not committed */
  return dft__file_begin(path, length - start);
}

int dft__h5_segment_open(dft__h5_segment *segment, const char *path, uint64_t length) {
  *segment = (dft__h5_segment){.path = strdup(path), .length = length};
  return count_before(path, length, &segment->number, &segment->start) && segment->path;
}

void dft__h5_segment_close(dft__h5_segment *segment) {
  free(segment->path);
  free(segment->memory);
}

dft_status dft__h5_segment_roll(dft__h5_segment *segment, uint64_t most, int *is_new) {
  char name[PATH_MAX + 16];
  *is_new = segment->length - segment->start >= most;
  if (!*is_new) return DFT_OK;
  if (!dft__h5_segment_name(name, sizeof name, segment->path, segment->number + 1)) return DFT_EINVAL;
  if (dft__held_rename(segment->path, name) != 0) return DFT_EIO;
  segment->number++;
  segment->start = segment->length;
  return dft__file_begin(segment->path, 0);
}

uint64_t dft__h5_segment_length(const char *path) {
  struct stat facts;
  uint64_t start;
  uint32_t number;
  count_before(path, UINT64_MAX, &number, &start);
  return start + (dft__held_stat(path, &facts) == 0 ? (uint64_t)facts.st_size : 0);
}

/* The last one first: whoever is killed here leaves a row that can be counted. */
void dft__h5_segment_remove(const char *path) {
  char name[PATH_MAX + 16];
  uint64_t start;
  uint32_t number;
  for (count_before(path, UINT64_MAX, &number, &start); number > 0; number--) {
    if (dft__h5_segment_name(name, sizeof name, path, number)) dft__held_unlink(name);
  }
}

/* ---- Records ------------------------------------------------------------------------------------------------------ */

uint8_t *dft__h5_segment_reserve(dft__h5_segment *segment, size_t bytes) {
  size_t need = segment->used + sizeof(dft__h5_record) + bytes;
  if (need > segment->room) {
    size_t room = need + need / 2;
    uint8_t *memory = realloc(segment->memory, room);
    if (!memory) return NULL;
    segment->memory = memory;
    segment->room = room;
  }
  return segment->memory + segment->used + sizeof(dft__h5_record);
}

uint64_t dft__h5_segment_put(dft__h5_segment *segment, const dft__h5_record *record) {
  dft__h5_record whole = *record;
  whole.magic = DFT__H5_MAGIC;
  memcpy(segment->memory + segment->used, &whole, sizeof whole);
  segment->used += sizeof whole + whole.bytes;
  segment->length += sizeof whole + whole.bytes;
  return segment->length - whole.bytes;
}

dft_status dft__h5_segment_flush(dft__h5_segment *segment, size_t least) {
  dft_status status;
  if (!segment->used || segment->used < least) return DFT_OK;
  status = dft__file_append(segment->path, segment->length - segment->start - segment->used, segment->memory,
                            segment->used);
  segment->used = 0;
  if (status != DFT_OK) segment->status = status;
  return status;
}

void dft__h5_segment_punch(const dft__h5_segment *segment, uint64_t offset, uint64_t bytes) {
  int fd = dft__held_open(segment->path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
  if (fd < 0) return;
  fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(offset - segment->start), (off_t)bytes);
  close(fd);
}
