/* lastline.c - the last line of a trace. Of a .gz it looks for the last member from the end of the file: a place that looks
 * like a member's header is one when everything from there on inflates to the file's last byte.
 * SPDX-License-Identifier: MIT */
#include "lastline.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "command/trace/suffix.h"

#define MEMBER_MOST (1u << 20) /* of text; compressed it is not longer by more than a few bytes in a thousand */
#define TAIL_BYTES (MEMBER_MOST + (64u << 10))

typedef struct text {
  char *bytes; /* TAIL_BYTES and a terminator */
  size_t len;
} text;

static int read_tail(const char *path, text *of) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat facts;
  ssize_t got = -1;
  if (fd < 0) return 0;
  if (fstat(fd, &facts) == 0) {
    off_t from = facts.st_size > (off_t)TAIL_BYTES ? facts.st_size - (off_t)TAIL_BYTES : 0;
    got = pread(fd, of->bytes, TAIL_BYTES, from);
  }
  close(fd);
  if (got <= 0) return 0;
  of->len = (size_t)got;
  return 1;
}

/* One member that fills these bytes exactly. */
static int inflate_all(const unsigned char *bytes, size_t len, text *out) {
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

static int inflate_tail(const text *tail, text *out) {
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
  static char line[1 << 17]; /* a longer one is counted by its end, where no "ph" stands */
  gzFile file = gzopen(path, "rb");
  uint64_t count = 0;
  while (file && gzgets(file, line, sizeof line)) {
    count += strstr(line, "\"ph\":\"X\"") != NULL;
  }
  if (file) gzclose(file);
  return count >= 2 ? count - 2 : 0; /* start and end */
}

static int parse(const char *path, text *of, ending *to) {
  char *line;
  int is_there;
  while (of->len && of->bytes[of->len - 1] == '\n') of->len--;
  of->bytes[of->len] = '\0';
  line = memrchr(of->bytes, '\n', of->len);
  line = line ? line + 1 : of->bytes;
  if (!strstr(line, "\"name\":\"end\",\"cat\":\"dftracer\"")) return 0;
  to->dropped = number_after(line, "\"num_dropped\":", &is_there);
  number_after(line, "\"recovered\":", &to->is_recovered);
  to->events = number_after(line, "\"num_events\":", &is_there);
  if (!is_there) to->events = count_events(path);
  return 1;
}

int ending_read(const char *path, ending *of) {
  text tail = {malloc(TAIL_BYTES + 1), 0};
  text inflated = {malloc(TAIL_BYTES + 1), 0};
  int is_gzip = ends_with(path, ".gz");
  int is_fine = tail.bytes && inflated.bytes && read_tail(path, &tail) &&
                (!is_gzip || inflate_tail(&tail, &inflated)) && parse(path, is_gzip ? &inflated : &tail, of);
  free(tail.bytes);
  free(inflated.bytes);
  return is_fine;
}
