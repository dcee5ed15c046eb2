/* walk.c - a source cut into units, and the lines that lie across the cuts.
 * SPDX-License-Identifier: MIT */
#include "walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "problem.h"
#include "source.h"
#include "unpublished.h"

#define UNIT_GZIP (96u << 10) /* compressed bytes of a unit, at least */
#define UNIT_PLAIN (2u << 20)
#define HEADER_BYTES 10u
#define SEARCH_BYTES (8u << 20) /* if no member begins within, the rest of the file is one unit */

/* Work on members that are damaged, in bytes of input. */
#define TRY_BYTES 4096u         /* that the mere attempt is worth */
#define TEXT_SHARE 8u           /* bytes of text that are worth one of input */
#define WASTED_FREE (16u << 20) /* for each source, beside its size */

/* ---- Where members begin -------------------------------------------------------------------------------------------- */

/* RFC 1952: signature, deflate, no reserved flags, and the extra flags and operating systems that compressors write. */
static int is_member(const uint8_t *bytes, size_t len) {
  if (len < HEADER_BYTES) return 0;
  return bytes[0] == 0x1f && bytes[1] == 0x8b && bytes[2] == 8 && (bytes[3] & 0xe0) == 0 &&
         (bytes[8] == 0 || bytes[8] == 2 || bytes[8] == 4) && (bytes[9] <= 13 || bytes[9] == 255);
}

static const uint8_t *find_in(const uint8_t *bytes, size_t len) {
  const uint8_t *at = bytes, *end = bytes + len;
  while (at < end && (at = memchr(at, 0x1f, (size_t)(end - at))) != NULL) {
    if (is_member(at, (size_t)(end - at))) return at;
    at++;
  }
  return NULL;
}

uint64_t dft__walk_find_member(int fd, uint64_t from, uint64_t to) {
  uint8_t block[32 << 10];
  while (from < to) {
    ssize_t len = pread(fd, block, sizeof block, (off_t)from);
    const uint8_t *found;
    if (len < (ssize_t)HEADER_BYTES) return to;
    found = find_in(block, (size_t)len);
    if (found) return from + (uint64_t)(found - block) < to ? from + (uint64_t)(found - block) : to;
    from += (uint64_t)len - (HEADER_BYTES - 1);
  }
  return to;
}

/* ---- Units ---------------------------------------------------------------------------------------------------------- */

void dft__walk_free(dft__walk *walk) {
  while (walk->seams) {
    dft__seam *next = walk->seams->next;
    free(walk->seams);
    walk->seams = next;
  }
  free(walk->starts);
  free(walk->verified);
  memset(walk, 0, sizeof *walk);
}

static uint64_t limit_of(const dft__source_state *source, int fd, uint64_t start) {
  uint64_t from, to, found;
  if (source->kind == DFT_SOURCE_PLAIN) {
    return source->size - start > UNIT_PLAIN ? start + UNIT_PLAIN : source->size;
  }
  from = start + UNIT_GZIP;
  if (from >= source->size) return source->size;
  to = source->size - from > SEARCH_BYTES ? from + SEARCH_BYTES : source->size;
  found = dft__walk_find_member(fd, from, to);
  return found < to ? found : source->size;
}

int dft__walk_take(dft_reader *reader, dft__walk *walk, uint32_t index, dft__unit *unit) {
  dft__source_state *source = &reader->sources[index];
  int fd;
  if (source->is_opened && walk->next_start >= source->size) return 0;
  fd = open(source->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* does not wait for the writer of a FIFO */
  if (!dft__source_prepare(reader, index, fd) || walk->next_start >= source->size) {
    if (fd >= 0) close(fd);
    walk->next_start = source->size;
    source->is_done = 1;
    return 0;
  }
  if (walk->unit_count == walk->unit_capacity) {
    uint64_t capacity = walk->unit_capacity ? walk->unit_capacity * 2 : 64;
    uint64_t *more = realloc(walk->starts, capacity * sizeof *more);
    if (!more) {
      close(fd);
      walk->next_start = source->size;
      return dft__source_fail(reader, index, ENOMEM);
    }
    walk->starts = more;
    walk->unit_capacity = capacity;
  }
  *unit = (dft__unit){.source = index, .number = walk->unit_count, .start = walk->next_start, .fd = fd};
  if (source->kind == DFT_SOURCE_SPOOL) {
    close(fd);
    walk->next_start = source->size;
    if (!dft__spool_take(reader, index, unit)) {
      source->is_done = 1;
      return 0;
    }
  } else {
    unit->limit = limit_of(source, fd, unit->start);
    walk->next_start = unit->limit;
  }
  walk->starts[walk->unit_count++] = unit->start;
  walk->units_open++;
  return 1;
}

uint64_t dft__walk_end_of(dft_reader *reader, dft__walk *walk, dft__unit *unit, uint64_t member, uint64_t at) {
  uint64_t(*more)[2] = realloc(walk->verified, (walk->verified_count + 1) * sizeof *more);
  if (more) {
    walk->verified = more;
    walk->verified[walk->verified_count][0] = member;
    walk->verified[walk->verified_count++][1] = at;
  }
  dft__problem_drop(reader, unit->source, member, at);
  if (at >= walk->next_start) { /* no unit beginning inside this member was handed out yet */
    walk->next_start = at;
    return at;
  }
  for (uint64_t i = 0; i < walk->unit_count; i++) {
    if (walk->starts[i] >= at) return walk->starts[i];
  }
  return walk->next_start;
}

uint64_t dft__walk_after_damage(dft_reader *reader, dft__walk *walk, dft__unit *unit, uint64_t member, uint64_t at,
                                uint64_t text_bytes) {
  uint64_t size = reader->sources[unit->source].size;
  walk->wasted += TRY_BYTES + (at - member) + text_bytes / TEXT_SHARE;
  if (walk->wasted <= WASTED_FREE + size) return member + 1;
  if (at < member + TRY_BYTES) at = member + TRY_BYTES;
  if (at > size) at = size;
  if (at >= walk->next_start) walk->next_start = unit->limit = at; /* no unit begins in what is passed over */
  return at;
}

/* ---- Seams ---------------------------------------------------------------------------------------------------------- */

dft__seam *dft__walk_take_seam(dft__walk *walk, uint64_t at) {
  for (dft__seam **link = &walk->seams; *link; link = &(*link)->next) {
    dft__seam *seam = *link;
    if (seam->at != at) continue;
    *link = seam->next;
    return seam;
  }
  return NULL;
}

int dft__walk_add_seam(dft__walk *walk, uint32_t kind, uint64_t at, uint64_t to, const char *bytes, size_t len) {
  dft__seam *seam = malloc(sizeof *seam + len);
  if (!seam) return 0;
  seam->at = at;
  seam->to = to;
  seam->kind = kind;
  seam->len = len;
  if (len) memcpy(seam->bytes, bytes, len);
  seam->next = walk->seams;
  walk->seams = seam;
  return 1;
}
