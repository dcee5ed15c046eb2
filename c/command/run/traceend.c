/* traceend.c - the last line of a trace. In a .gz it searches the last member backwards from the end of the file: bytes that
 * look like a member's header are one when everything from there on inflates up to the file's last byte.
 * SPDX-License-Identifier: MIT */
#include "traceend.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "command/trace/suffix.h"

#define MEMBER_MOST (1u << 20) /* of text; compression adds at most a few bytes in a thousand */
#define TAIL_BYTES (MEMBER_MOST + (64u << 10))

typedef struct tail_text {
  char *bytes; /* TAIL_BYTES and a terminator */
  size_t len;
} tail_text;

static int read_tail(const char *path, tail_text *tail) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat facts;
  ssize_t got = -1;
  if (fd < 0) return 0;
  if (fstat(fd, &facts) == 0) {
    off_t from = facts.st_size > (off_t)TAIL_BYTES ? facts.st_size - (off_t)TAIL_BYTES : 0;
    got = pread(fd, tail->bytes, TAIL_BYTES, from);
  }
  close(fd);
  if (got <= 0) return 0;
  tail->len = (size_t)got;
  return 1;
}

/* Inflates one member that fills these bytes exactly. */
static int inflate_all(const unsigned char *bytes, size_t len, tail_text *out) {
  z_stream stream = {.next_in = (unsigned char *)(uintptr_t)bytes, .avail_in = (unsigned)len};
  int result;
  if (inflateInit2(&stream, 31) != Z_OK) return 0;
  stream.next_out = (unsigned char *)out->bytes;
  stream.avail_out = TAIL_BYTES;
  result = inflate(&stream, Z_FINISH);
  out->len = TAIL_BYTES - stream.avail_out;
  inflateEnd(&stream);
  return result == Z_STREAM_END && stream.avail_in == 0;
}

static int inflate_tail(const tail_text *tail, tail_text *out) {
  const unsigned char *bytes = (const unsigned char *)tail->bytes;
  for (size_t at = tail->len < 18 ? 0 : tail->len - 17; at-- > 0;) {
    if (bytes[at] != 0x1f || bytes[at + 1] != 0x8b || bytes[at + 2] != 8 || bytes[at + 3] > 31) continue;
    if (inflate_all(bytes + at, tail->len - at, out)) return 1;
  }
  return 0;
}

static uint64_t number_after(const char *line, const char *key, int *is_there) {
  const char *at = strstr(line, key);
  *is_there = at != NULL;
  return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static uint64_t count_events(const char *path) {
  static char line[1 << 17]; /* a longer line comes in pieces, of which one contains "ph" */
  gzFile file = gzopen(path, "rb");
  uint64_t count = 0;
  while (file && gzgets(file, line, sizeof line)) {
    count += strstr(line, "\"ph\":\"X\"") != NULL;
  }
  if (file) gzclose(file);
  return count >= 2 ? count - 2 : 0; /* start and end */
}

static int parse(const char *path, tail_text *text, trace_end *end) {
  char *line;
  int is_there;
  while (text->len && text->bytes[text->len - 1] == '\n') text->len--;
  text->bytes[text->len] = '\0';
  line = memrchr(text->bytes, '\n', text->len);
  line = line ? line + 1 : text->bytes;
  if (!strstr(line, "\"name\":\"end\",\"cat\":\"dftracer\"")) return 0;
  end->dropped = number_after(line, "\"num_dropped\":", &is_there);
  number_after(line, "\"recovered\":", &end->is_recovered);
  end->events = number_after(line, "\"num_events\":", &is_there);
  if (!is_there) end->events = count_events(path);
  return 1;
}

int trace_end_read(const char *path, trace_end *end) {
  tail_text tail = {malloc(TAIL_BYTES + 1), 0};
  tail_text inflated = {malloc(TAIL_BYTES + 1), 0};
  int is_gzip = ends_with(path, ".gz");
  int is_fine = tail.bytes && inflated.bytes && read_tail(path, &tail) &&
                (!is_gzip || inflate_tail(&tail, &inflated)) && parse(path, is_gzip ? &inflated : &tail, end);
  free(tail.bytes);
  free(inflated.bytes);
  return is_fine;
}
