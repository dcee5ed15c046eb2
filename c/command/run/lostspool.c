/* lostspool.c - traces whose spool is gone, with the memory of its node: what had been written already becomes a trace.
 *
 * A claim outlives its spool where that lay in /dev/shm and the node was started anew, or its memory was cleaned up. The live
 * file beside it holds whole gzip members up to the last append, which may be torn. It is cut there, gets the `end` that tells
 * of the loss, and its name. All of it follows from the file alone, so that doing it twice does no harm. With segments of HDF5
 * tables the library does the same.
 * SPDX-License-Identifier: MIT */
#include "lostspool.h"

#include <dftracer/h5.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#define POINTER_START "dftracer spool at "
#define MEMBER_MOST ((size_t)64 << 20) /* a larger one is none of ours */

/* ---- Claims --------------------------------------------------------------------------------------------------------- */

static size_t read_small(const char *path, char *text, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  ssize_t len = fd < 0 ? -1 : read(fd, text, size - 1);
  if (fd >= 0) close(fd);
  text[len > 0 ? len : 0] = '\0';
  return len > 0 ? (size_t)len : 0;
}

enum claim { NO_CLAIM, OF_THIS_BOOT, OF_THIS_NODE, OF_ANOTHER };

/* A pointer to a spool that is not there. */
static enum claim judge(const char *path) {
  char text[8192], boot_id[64];
  char *lines[3] = {NULL, NULL, NULL};
  char *rest = text + sizeof POINTER_START - 1;
  struct utsname names;
  if (read_small(path, text, sizeof text) <= sizeof POINTER_START ||
      strncmp(text, POINTER_START, sizeof POINTER_START - 1) != 0) {
    return NO_CLAIM;
  }
  for (int i = 0; i < 3 && rest; i++) lines[i] = strsep(&rest, "\n");
  if (!lines[2] || access(lines[0], F_OK) == 0) return NO_CLAIM;
  read_small("/proc/sys/kernel/random/boot_id", boot_id, sizeof boot_id);
  boot_id[strcspn(boot_id, "\n")] = '\0';
  if (strcmp(lines[2], boot_id) == 0) return OF_THIS_BOOT;
  return uname(&names) == 0 && strcmp(lines[1], names.nodename) == 0 ? OF_THIS_NODE : OF_ANOTHER;
}

/* ---- What the live file holds ---------------------------------------------------------------------------------------- */

typedef struct content {
  int is_gzip;
  uint64_t good;               /* bytes up to the last complete line, of a complete member */
  uint64_t last_id, last_time; /* the largest */
  uint64_t events;             /* as event.h counts them */
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

static void note_line(content *of, const char *line) {
  uint64_t id = number_of(line, "{\"id\":");
  uint64_t end = number_of(line, ",\"ts\":") + number_of(line, ",\"dur\":");
  int is_end = strstr(line, ",\"name\":\"end\",\"cat\":\"dftracer\",") != NULL;
  int is_start = strstr(line, ",\"name\":\"start\",\"cat\":\"dftracer\",") != NULL;
  int is_own = is_start || is_end || strstr(line, ",\"ph\":\"M\",");
  const char *hash = strstr(line, "\"hhash\":\"");
  if (line[0] != '{') return; /* the bracket */
  if (id > of->last_id) of->last_id = id;
  if (end > of->last_time) of->last_time = end;
  if (!of->pid) of->pid = number_of(line, ",\"pid\":");
  if (hash && !of->host_hash[0]) snprintf(of->host_hash, sizeof of->host_hash, "%.16s", hash + 9);
  of->is_complete = is_end;
  of->has_records |= !is_own || (of->is_started && strstr(line, ",\"name\":\"CM\","));
  of->is_started |= is_start;
  if (is_own) return;
  of->events += strstr(line, "\"ph\":\"X\"") != NULL;
  of->is_annotated |= !strstr(line, ",\"cat\":\"POSIX\",") && !strstr(line, ",\"cat\":\"STDIO\",");
}

/* The complete lines; how many bytes they are. */
static size_t note_lines(content *of, char *text, size_t len) {
  size_t done = 0;
  char *end;
  while ((end = memchr(text + done, '\n', len - done)) != NULL) {
    *end = '\0';
    note_line(of, text + done);
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

static void examine_gzip(content *of, const unsigned char *bytes, size_t len) {
  size_t room = (size_t)2 << 20, text_len, member;
  char *text = malloc(room);
  while (text && (member = inflate_member(bytes + of->good, len - of->good, &text, &room, &text_len)) != 0) {
    if (!text_len || text[text_len - 1] != '\n') break;
    note_lines(of, text, text_len);
    of->good += member;
  }
  free(text);
}

static int examine(content *of, int fd) {
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
  of->is_gzip = len > 1 && bytes[0] == 0x1f && bytes[1] == 0x8b;
  if (of->is_gzip) examine_gzip(of, bytes, len);
  else if (len) of->good = note_lines(of, (char *)bytes, len);
  free(bytes);
  return is_file && len == (size_t)facts.st_size;
}

/* ---- The end, and the name ------------------------------------------------------------------------------------------- */

static int write_end(const content *of, int fd) {
  char line[512];
  unsigned char member[1024];
  const void *bytes = line;
  size_t len = (size_t)snprintf(line, sizeof line,
                                "{\"id\":%llu,\"name\":\"end\",\"cat\":\"dftracer\",\"pid\":%llu,\"tid\":%llu,\"ts\":%"
                                "llu,\"dur\":0,\"ph\":\"X\",\"args\":{"
                                "\"hhash\":\"%s\",\"num_events\":%llu,\"recovered\":1,\"spool_lost\":1}}\n",
                                (unsigned long long)of->last_id + 1, (unsigned long long)of->pid,
                                (unsigned long long)of->pid, (unsigned long long)of->last_time, of->host_hash,
                                (unsigned long long)of->events);
  if (of->is_gzip) {
    z_stream stream = {.next_in = (unsigned char *)line, .avail_in = (unsigned)len, .next_out = member};
    stream.avail_out = sizeof member;
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) return 0;
    len = stream.total_out;
    bytes = member;
    deflateEnd(&stream);
  }
  return pwrite(fd, bytes, len, (off_t)of->good) == (ssize_t)len;
}

/* As the process would have called it: a prefix with host and pid says what it holds, an explicit name is used as it is. */
static int publish(const char *folder, const char *base, const char *live, uint64_t pid, int is_annotated,
                   const char *ending) {
  char end[24], name[PATH_MAX];
  size_t len = strlen(base);
  snprintf(end, sizeof end, "-%llu", (unsigned long long)pid);
  int is_prefix = len > strlen(end) && strcmp(base + len - strlen(end), end) == 0;
  for (int number = 1; number < 10000; number++) {
    char more[16] = "";
    if (number > 1) snprintf(more, sizeof more, "-%d", number);
    if (snprintf(name, sizeof name, "%s/%s%s%s%s", folder, base,
                 !is_prefix     ? ""
                 : is_annotated ? "-app"
                                : "-preload",
                 more, ending) >= (int)sizeof name) {
      return 0;
    }
    if (link(live, name) == 0) return unlink(live) == 0;
    if (errno != EEXIST) return rename(live, name) == 0; /* a file system without links */
  }
  return 0;
}

static int salvage_live(const char *folder, const char *base, const char *live, uint64_t *events, int *is_worth) {
  content of = {0};
  int fd = open(live, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  int is_done = fd >= 0 && examine(&of, fd);
  if (is_done && of.pid && !of.is_complete) {
    is_done = ftruncate(fd, (off_t)of.good) == 0 && write_end(&of, fd) && fsync(fd) == 0;
  }
  if (fd >= 0) close(fd);
  if (!is_done) return 0;
  *is_worth = of.has_records;
  *events += of.events;
  if (!of.has_records) return unlink(live) == 0;
  return publish(folder, base, live, of.pid, of.is_annotated, of.is_gzip ? ".pfw.gz" : ".pfw");
}

/* A file that was made before a death, which came before its name: the name was made from the pid it ends with. */
static uint64_t last_number(const char *base) {
  const char *dash = strrchr(base, '-');
  return dash ? strtoull(dash + 1, NULL, 10) : 0;
}

static int salvage_tables(const char *folder, const char *base, const char *live, uint64_t *events, int *is_worth) {
  dft_h5_salvaged of = {.struct_size = sizeof of};
  char why[512];
  if (dft_h5_salvage(live, &of, why, sizeof why) != DFT_OK) {
    fprintf(stderr, "dftracer recover: %s: %s\n", live, why);
    return 0;
  }
  *events += of.events;
  *is_worth = access(live, F_OK) == 0; /* else it held no events */
  if (!*is_worth) return 1;
  return publish(folder, base, live, of.pid ? of.pid : last_number(base), of.is_annotated || !of.pid, ".h5");
}

/* Zero when something is still there. */
static int salvage_claim(const char *folder, const char *claim, const char *base, salvage *of) {
  static const struct {
    const char *end;
    int (*salvage)(const char *folder, const char *base, const char *live, uint64_t *events, int *is_worth);
  } kinds[] = {
    {".0-jsonl", salvage_live}, {".1-jsonl", salvage_live}, {".0-hdf5", salvage_tables}, {".1-hdf5", salvage_tables}};
  char live[PATH_MAX];
  uint64_t most = 0;
  int is_any_worth = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    uint64_t events = 0;
    int is_worth = 0;
    if (snprintf(live, sizeof live, "%s/.dftracer/%s%s", folder, base, kinds[i].end) >= (int)sizeof live) return 0;
    if (access(live, F_OK) != 0) continue;
    if (!kinds[i].salvage(folder, base, live, &events, &is_worth)) {
      of->failed++;
      return 0;
    }
    if (events > most) most = events;
    is_any_worth |= is_worth;
  }
  of->published += (uint32_t)is_any_worth;
  of->events += most;
  return unlink(claim) == 0;
}

void salvage_folder(const char *folder, int is_lost, salvage *of) {
  char inner[PATH_MAX], claim[PATH_MAX];
  struct dirent *entry;
  DIR *entries;
  if (snprintf(inner, sizeof inner, "%s/.dftracer", folder) >= (int)sizeof inner) return;
  entries = opendir(inner);
  while (entries && (entry = readdir(entries)) != NULL) {
    size_t len = strlen(entry->d_name);
    char base[NAME_MAX + 1];
    enum claim kind;
    if (len <= 6 || strcmp(entry->d_name + len - 6, ".spool") != 0) continue;
    if (snprintf(claim, sizeof claim, "%s/%s", inner, entry->d_name) >= (int)sizeof claim) continue;
    kind = judge(claim);
    if (kind == NO_CLAIM) continue;
    snprintf(base, sizeof base, "%.*s", (int)len - 6, entry->d_name);
    if (kind == OF_ANOTHER && !is_lost) of->waiting++;
    else if (salvage_claim(folder, claim, base, of)) of->settled += kind != OF_THIS_BOOT;
  }
  if (entries) closedir(entries);
  rmdir(inner); /* when nothing is left in it */
}
