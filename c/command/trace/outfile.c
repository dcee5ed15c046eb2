/* outfile.c - writes text to a file, plain or as gzip members.
 * SPDX-License-Identifier: MIT */
#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/escape.h"
#include "codec/gzip.h"
#include "codec/number.h"
#include "command/cli/printable.h"
#include "suffix.h"

#define PIECE (768u << 10) /* of text: a gzip member */
#define NAMES_MOST 100     /* that are tried for a file that is not complete yet */

int outfile_refused(const char *path) {
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
  return access(folder, W_OK | X_OK) == 0 ? 0 : errno;
}

/* A new file, never one that is there: in a shared folder that may be another user's file, or a link to one of ours. */
static int open_part(outfile *out, const char *path) {
  for (int number = 1;; number++) {
    if (snprintf(out->part, sizeof out->part, "%s.part-%d-%d", path, (int)getpid(), number) >= (int)sizeof out->part) {
      errno = ENAMETOOLONG;
      return -1;
    }
    out->fd = open(out->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (out->fd >= 0 || errno != EEXIST || number == NAMES_MOST) return out->fd;
  }
}

int outfile_adopt(outfile *out, int fd) {
  memset(out, 0, sizeof *out);
  out->fd = fd;
  out->room = PIECE + (64u << 10);
  out->text = malloc(out->room);
  return out->text ? 0 : ENOMEM;
}

int outfile_open(outfile *out, const char *path) {
  memset(out, 0, sizeof *out);
  out->fd = STDOUT_FILENO;
  if (path && strcmp(path, "-") != 0) {
    struct stat facts;
    int is_device = stat(path, &facts) == 0 && !S_ISREG(facts.st_mode); /* such as a pipe: written directly */
    if (is_device) out->fd = open(path, O_WRONLY | O_CLOEXEC);
    else if (open_part(out, path) >= 0) memcpy(out->path, path, strlen(path) + 1);
    if (out->fd < 0) return errno;
    out->is_gzip = ends_with(path, ".gz");
  }
  out->room = PIECE + (64u << 10);
  out->text = malloc(out->room);
  if (out->is_gzip) dft__gzip_load();
  if (out->is_gzip) out->state = aligned_alloc(64, (dft__gzip_state_bytes() + 63) / 64 * 64);
  if (out->text && (!out->is_gzip || out->state)) return 0;
  outfile_close(out, 0);
  return ENOMEM;
}

static void write_all(outfile *out, const char *bytes, size_t len) {
  while (len && !out->error) {
    ssize_t written = write(out->fd, bytes, len);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      out->error = errno;
      return;
    }
    bytes += written;
    len -= (size_t)written;
    out->bytes += (uint64_t)written;
  }
}

static void flush(outfile *out) {
  size_t len = out->len;
  out->len = 0;
  if (out->error || !len) return;
  if (!out->is_gzip) {
    write_all(out, out->text, len);
  } else {
    size_t room = dft__gzip_bound(out->room);
    if (!out->packed) out->packed = malloc(room);
    len = out->packed ? dft__gzip_member(out->state, dft__gzip_state_bytes(), 0, out->text, len, out->packed, room) : 0;
    if (len) write_all(out, out->packed, len);
    else out->error = out->packed ? EIO : ENOMEM;
  }
}

char *outfile_room(outfile *out, size_t len) {
  if (out->len >= PIECE && out->fd >= 0) flush(out);
  if (out->room - out->len < len) {
    size_t room = out->len + len + (64u << 10);
    char *more = realloc(out->text, room);
    if (!more) {
      out->error = ENOMEM;
      return NULL;
    }
    out->text = more;
    out->room = room;
    free(out->packed); /* allocated again, large enough, when needed */
    out->packed = NULL;
  }
  return out->text + out->len;
}

void outfile_advance(outfile *out, size_t len) {
  out->len += len;
}

void outfile_put(outfile *out, const char *text, size_t len) {
  char *at = outfile_room(out, len);
  if (!at) return;
  memcpy(at, text, len);
  out->len += len;
}

void outfile_text(outfile *out, const char *text) {
  outfile_put(out, text, strlen(text));
}

/* Whether nothing beyond printable ASCII is in it, as in most texts. */
static int is_ascii(const char *text, size_t len) {
  unsigned char all = 0;
  for (size_t i = 0; i < len; i++) all |= (unsigned char)(text[i] | (text[i] == 0x7f) << 7);
  return all < 0x80;
}

void outfile_json(outfile *out, const char *text, size_t len) {
  size_t from = 0;
  if (is_ascii(text, len)) from = len, outfile_put(out, text, len);
  for (size_t i = from; i < len;) {
    printable_step step = printable_next(text + i, len - i);
    int is_left = step.is_shown || step.code < ' '; /* white space; JSON has no others */
    if (!is_left) {
      char escape[8];
      outfile_put(out, text + from, i - from);
      outfile_put(out, escape,
                  (size_t)snprintf(escape, sizeof escape, "\\u%04x", step.is_valid ? step.code & 0xffff : 0xfffd));
      from = i + step.len;
    }
    i += step.len;
  }
  outfile_put(out, text + from, len - from);
}

void outfile_escaped(outfile *out, const char *text, size_t len) {
  size_t most = 6 * len + 16; /* \u0000 */
  char *at = outfile_room(out, most), *copy;
  dft_text from = {text, len};
  int bad = 0;
  char *end = at ? dft__escape_text(at, at + most, from, &bad) : NULL;
  if (!end) return;
  len = (size_t)(end - at);
  if (is_ascii(at, len)) {
    out->len += len;
    return;
  }
  copy = malloc(len + 1);
  if (!copy) {
    out->error = ENOMEM;
    return;
  }
  memcpy(copy, at, len);
  outfile_json(out, copy, len);
  free(copy);
}

void outfile_quoted(outfile *out, dft_text text) {
  outfile_text(out, "\"");
  outfile_escaped(out, text.text, text.len);
  outfile_text(out, "\"");
}

void outfile_int(outfile *out, int64_t number) {
  char *at = outfile_room(out, DFT__NUMBER_ROOM);
  if (at) out->len += (size_t)(dft__number_int(at, number) - at);
}

void outfile_us(outfile *out, int64_t ns) {
  int64_t us = ns / 1000;
  int64_t rest = ns % 1000;
  if (rest < 0) rest += 1000, us--;
  outfile_int(out, us);
  if (rest) {
    char digits[8];
    outfile_put(out, digits, (size_t)snprintf(digits, sizeof digits, ".%03d", (int)rest));
  }
}

int outfile_close(outfile *out, int is_complete) {
  if (is_complete && out->fd >= 0) flush(out);
  if (out->fd != STDOUT_FILENO && out->fd >= 0 && close(out->fd) != 0 && !out->error) out->error = errno;
  if (out->path[0] && out->fd >= 0) {
    if (is_complete && !out->error && rename(out->part, out->path) != 0) out->error = errno;
    if (!is_complete || out->error) unlink(out->part);
  }
  out->fd = -1;
  free(out->text);
  free(out->packed);
  free(out->state);
  out->text = out->packed = NULL;
  out->state = NULL;
  return out->error;
}

void outfile_complain(const char *command, const char *path, int error) {
  if (error != EPIPE) fprintf(stderr, "dftracer %s: %s: %s\n", command, printable(path), strerror(error));
}
