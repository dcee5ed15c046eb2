/* segment.c - appends records, and gives back what became worthless.
 * SPDX-License-Identifier: MIT */
#include "segment.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "../jsonl/file.h"

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
  status = dft__file_append(segment->path, segment->length - segment->used, segment->memory, segment->used);
  segment->used = 0;
  if (status != DFT_OK) segment->status = status;
  return status;
}

void dft__h5_segment_punch(const dft__h5_segment *segment, uint64_t offset, uint64_t bytes) {
  int fd = open(segment->path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return;
  fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes);
  close(fd);
}
