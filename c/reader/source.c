/* source.c - what a file is, found out by looking into it.
 * SPDX-License-Identifier: MIT */
#include "source.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/inflate.h"
#include "problem.h"
#include "unpublished.h"

#define PEEK_BYTES (16u << 10)

void dft__source_free(dft__source_state *source) {
  for (uint32_t i = 0; i < source->problems_kept; i++) free(source->problems[i].detail);
  free(source->problems);
  free(source->unit_lines);
  free(source->path);
}

/* The first text of a .pfw.gz. */
static size_t inflate_some(const uint8_t *in, size_t in_len, uint8_t *out, size_t room) {
  void *state = calloc(1, dft__inflater_zlib.state_bytes);
  dft__flow flow = {.in = in, .in_len = in_len, .room = room};
  flow.out = out;
  if (!state) return 0;
  dft__inflater_zlib.begin(state);
  dft__inflater_zlib.run(state, &flow);
  dft__inflater_zlib.end(state);
  free(state);
  return room - flow.room;
}

/* The opening lines name the unit of times. */
static uint64_t find_unit(const char *text, size_t len) {
  static const struct {
    const char *name;
    uint64_t ns;
  } units[] = {{"\"NS\"", 1}, {"\"US\"", 1000}, {"\"MS\"", 1000000}, {"\"SEC\"", 1000000000}};
  const char *metric = memmem(text, len, "\"time_metric\"", 13);
  const char *end;
  if (!metric) return 1000;
  end = memchr(metric, '\n', len - (size_t)(metric - text));
  if (!end) end = text + len;
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    if (memmem(metric, (size_t)(end - metric), units[i].name, strlen(units[i].name))) return units[i].ns;
  }
  return 1000;
}

/* Judged by the content; of a damaged file, by the name. */
static uint32_t kind_of(const char *path, const uint8_t *bytes, size_t len) {
  size_t path_len = strlen(path);
  if (dft_spool_is(bytes, len)) return DFT_SOURCE_SPOOL;
  if (len >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b) return DFT_SOURCE_GZIP;
  if (path_len > 3 && strcmp(path + path_len - 3, ".gz") == 0 && len && bytes[0] != '[' && bytes[0] != '{') {
    return DFT_SOURCE_GZIP;
  }
  return DFT_SOURCE_PLAIN;
}

int dft__source_fail(dft_reader *reader, uint32_t index, int error) {
  dft__problem_entry problem = {.kind = DFT_PROBLEM_FILE, .error = error, .line_in_unit = UINT64_MAX};
  const char *path = reader->sources[index].path;
  dft__problem_add(reader, index, &problem, path, strlen(path));
  reader->sources[index].is_done = 1;
  return 0;
}

int dft__source_prepare(dft_reader *reader, uint32_t index, int fd) {
  dft__source_state *source = &reader->sources[index];
  uint8_t head[PEEK_BYTES], text[PEEK_BYTES];
  struct stat facts;
  ssize_t len;
  if (source->is_opened) return fd >= 0 || dft__source_fail(reader, index, errno);
  source->is_opened = 1;
  if (fd < 0) return dft__source_fail(reader, index, errno);
  if (fstat(fd, &facts) != 0) return dft__source_fail(reader, index, errno);
  if (!S_ISREG(facts.st_mode)) return dft__source_fail(reader, index, S_ISDIR(facts.st_mode) ? EISDIR : ESPIPE);
  len = pread(fd, head, sizeof head, 0);
  if (len < 0) return dft__source_fail(reader, index, errno);
  source->size = (uint64_t)facts.st_size;
  source->kind = kind_of(source->path, head, (size_t)len);
  if (source->kind == DFT_SOURCE_GZIP) {
    size_t text_len = inflate_some(head, (size_t)len, text, sizeof text);
    source->unit_ns = find_unit((char *)text, text_len);
  } else if (source->kind == DFT_SOURCE_PLAIN) {
    source->unit_ns = find_unit((char *)head, (size_t)len);
  }
  return 1;
}
