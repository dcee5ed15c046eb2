/* jsonl_salvage.c - a trace whose spool is gone: what its lines hold.
 *
 * No commit says how much of the output counts. It is a row of whole gzip members, or of whole lines, up to the last append,
 * which may be torn. It is cut there and gets an `end` that says so. Everything follows from the file alone, so that doing it
 * twice does no harm.
 * SPDX-License-Identifier: MIT */
#include "jsonl_salvage.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "codec/heldfolder.h"

#define MEMBER_MOST ((size_t)64 << 20) /* we write no larger ones */

/* ---- What the output holds ---------------------------------------------------------------------------------------------- */

typedef struct content {
  int is_gzip;
  uint64_t good;               /* bytes up to the last complete line, of a complete member */
  uint64_t last_id, last_time; /* the largest */
  uint64_t events;             /* complete ones, but start and end */
  uint64_t pid;
  char host_hash[20];
  int has_records; /* of the program: events, counter values or metadata */
  int is_started, is_annotated, is_complete;
} content;

/* Lines are our own: the order of keys is known, and a name in them is escaped. */
static uint64_t number_of(const char *line, const char *key) {
  const char *at = strstr(line, key);
  return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static void note_line(content *found, const char *line) {
  uint64_t id = number_of(line, "{\"id\":");
  uint64_t end = number_of(line, ",\"ts\":") + number_of(line, ",\"dur\":");
  int is_end = strstr(line, ",\"name\":\"end\",\"cat\":\"dftracer\",") != NULL;
  int is_start = strstr(line, ",\"name\":\"start\",\"cat\":\"dftracer\",") != NULL;
  int is_own = is_start || is_end || strstr(line, ",\"ph\":\"M\",");
  const char *hash = strstr(line, "\"hhash\":\"");
  if (line[0] != '{') return; /* the bracket */
  if (id > found->last_id) found->last_id = id;
  if (end > found->last_time) found->last_time = end;
  if (!found->pid) found->pid = number_of(line, ",\"pid\":");
  if (hash && !found->host_hash[0]) snprintf(found->host_hash, sizeof found->host_hash, "%.16s", hash + 9);
  found->is_complete = is_end;
  found->has_records |= !is_own || (found->is_started && strstr(line, ",\"name\":\"CM\","));
  found->is_started |= is_start;
  if (is_own) return;
  found->events += strstr(line, "\"ph\":\"X\"") != NULL;
  found->is_annotated |= !strstr(line, ",\"cat\":\"POSIX\",") && !strstr(line, ",\"cat\":\"STDIO\",");
}

/* The complete lines; how many bytes they are. */
static size_t note_lines(content *found, char *text, size_t len) {
  size_t done = 0;
  char *end;
  while ((end = memchr(text + done, '\n', len - done)) != NULL) {
    *end = '\0';
    note_line(found, text + done);
    done = (size_t)(end - text) + 1;
  }
  return done;
}

/* One member from `in` on into a text that grows; its bytes, 0 when it is not complete. */
static size_t inflate_member(const unsigned char *in, size_t len, char **text, size_t *room, size_t *text_len) {
  z_stream stream = {.next_in = (unsigned char *)(uintptr_t)in, .avail_in = len < UINT_MAX ? (unsigned)len : UINT_MAX};
  int result = inflateInit2(&stream, 31);
  while (result == Z_OK) {
    stream.next_out = (unsigned char *)*text + stream.total_out;
    stream.avail_out = (unsigned)(*room - stream.total_out);
    result = inflate(&stream, Z_NO_FLUSH);
    if (result == Z_BUF_ERROR || (result == Z_OK && !stream.avail_out)) {
      char *more = stream.avail_out || *room >= MEMBER_MOST ? NULL : realloc(*text, 2 * *room);
      if (!more) break;
      *text = more;
      *room *= 2;
      result = Z_OK;
    }
  }
  inflateEnd(&stream);
  *text_len = stream.total_out;
  return result == Z_STREAM_END ? stream.total_in : 0;
}

static void examine_gzip(content *found, const unsigned char *bytes, size_t len) {
  size_t room = (size_t)2 << 20, text_len, member;
  char *text = malloc(room);
  while (text && (member = inflate_member(bytes + found->good, len - found->good, &text, &room, &text_len)) != 0) {
    if (!text_len || text[text_len - 1] != '\n') break;
    note_lines(found, text, text_len);
    found->good += member;
  }
  free(text);
}

static int examine(content *found, int fd) {
  struct stat facts;
  unsigned char *bytes = NULL;
  size_t len = 0;
  int is_file = fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
  if (is_file) bytes = malloc((size_t)facts.st_size + 1);
  while (bytes && len < (size_t)facts.st_size) {
    ssize_t got = pread(fd, bytes + len, (size_t)facts.st_size - len, (off_t)len);
    if (got <= 0) break;
    len += (size_t)got;
  }
  found->is_gzip = len > 1 && bytes[0] == 0x1f && bytes[1] == 0x8b;
  if (found->is_gzip) examine_gzip(found, bytes, len);
  else if (len) found->good = note_lines(found, (char *)bytes, len);
  free(bytes);
  return is_file && len == (size_t)facts.st_size;
}

/* ---- The end ---------------------------------------------------------------------------------------------------------- */

static int write_end(const content *found, int fd) {
  char line[512];
  unsigned char member[1024];
  const void *bytes = line;
  size_t len = (size_t)snprintf(line, sizeof line,
                                "{\"id\":%llu,\"name\":\"end\",\"cat\":\"dftracer\",\"pid\":%llu,\"tid\":%llu,\"ts\":%"
                                "llu,\"dur\":0,\"ph\":\"X\",\"args\":{"
                                "\"hhash\":\"%s\",\"num_events\":%llu,\"recovered\":1,\"spool_lost\":1}}\n",
                                (unsigned long long)found->last_id + 1, (unsigned long long)found->pid,
                                (unsigned long long)found->pid, (unsigned long long)found->last_time, found->host_hash,
                                (unsigned long long)found->events);
  if (found->is_gzip) {
    z_stream stream = {.next_in = (unsigned char *)line, .avail_in = (unsigned)len, .next_out = member};
    stream.avail_out = sizeof member;
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) return 0;
    len = stream.total_out;
    bytes = member;
    deflateEnd(&stream);
  }
  return pwrite(fd, bytes, len, (off_t)found->good) == (ssize_t)len;
}

dft_status dft__jsonl_salvage(const dft_sink_target *target, dft_salvaged *salvaged, char *why, size_t size) {
  content found = {0};
  int fd = dft__held_open(target->path, O_RDWR | O_CLOEXEC | O_NONBLOCK, 0);
  int is_done = fd >= 0 && examine(&found, fd);
  if (is_done && found.pid && !found.is_complete)
    is_done = ftruncate(fd, (off_t)found.good) == 0 && write_end(&found, fd) && fsync(fd) == 0;
  if (!is_done) snprintf(why, size, "%s", strerror(errno));
  if (fd >= 0) close(fd);
  if (!is_done) return DFT_EIO;
  salvaged->events = found.events;
  salvaged->pid = (uint32_t)found.pid;
  salvaged->is_annotated = (uint32_t)found.is_annotated;
  salvaged->is_plain = !found.is_gzip;
  salvaged->is_empty = !found.has_records;
  return DFT_OK;
}
