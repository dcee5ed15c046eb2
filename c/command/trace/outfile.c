/* outfile.c - text to a file, or to gzip members of a file.
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
#include "suffix.h"

#define PIECE (768u << 10) /* of text: a gzip member */

int outfile_refused(const char *path) {
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
  return access(folder, W_OK | X_OK) == 0 ? 0 : errno;
}

int outfile_open(outfile *of, const char *path) {
  size_t len = path ? strlen(path) : 0;
  memset(of, 0, sizeof *of);
  of->fd = STDOUT_FILENO;
  if (path && strcmp(path, "-") != 0) {
    struct stat facts;
    int is_device = stat(path, &facts) == 0 && !S_ISREG(facts.st_mode); /* a pipe, say: written as it is */
    if (snprintf(of->part, sizeof of->part, "%s.part-%d", path, (int)getpid()) >= (int)sizeof of->part)
      return ENAMETOOLONG;
    of->fd = open(is_device ? path : of->part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (of->fd < 0) return errno;
    if (!is_device) memcpy(of->path, path, len + 1);
    of->is_gzip = ends_with(path, ".gz");
  }
  of->room = PIECE + (64u << 10);
  of->text = malloc(of->room);
  if (of->is_gzip) dft__gzip_load();
  if (of->is_gzip) of->state = aligned_alloc(64, (dft__gzip_state_bytes() + 63) / 64 * 64);
  if (of->text && (!of->is_gzip || of->state)) return 0;
  outfile_close(of, 0);
  return ENOMEM;
}

static void write_all(outfile *of, const char *bytes, size_t len) {
  while (len && !of->error) {
    ssize_t written = write(of->fd, bytes, len);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      of->error = errno;
      return;
    }
    bytes += written;
    len -= (size_t)written;
    of->bytes += (uint64_t)written;
  }
}

static void flush(outfile *of) {
  size_t len = of->len;
  of->len = 0;
  if (of->error || !len) return;
  if (!of->is_gzip) {
    write_all(of, of->text, len);
  } else {
    size_t room = dft__gzip_bound(of->room);
    if (!of->packed) of->packed = malloc(room);
    len = of->packed ? dft__gzip_member(of->state, dft__gzip_state_bytes(), 0, of->text, len, of->packed, room) : 0;
    if (len) write_all(of, of->packed, len);
    else of->error = of->packed ? EIO : ENOMEM;
  }
}

char *outfile_room(outfile *of, size_t len) {
  if (of->len >= PIECE) flush(of);
  if (of->room - of->len < len) {
    size_t room = of->len + len + (64u << 10);
    char *more = realloc(of->text, room);
    if (!more) {
      of->error = ENOMEM;
      return NULL;
    }
    of->text = more;
    of->room = room;
    free(of->packed); /* is made anew, large enough */
    of->packed = NULL;
  }
  return of->text + of->len;
}

void outfile_advance(outfile *of, size_t len) {
  of->len += len;
}

void outfile_put(outfile *of, const char *text, size_t len) {
  char *at = outfile_room(of, len);
  if (!at) return;
  memcpy(at, text, len);
  of->len += len;
}

void outfile_text(outfile *of, const char *text) {
  outfile_put(of, text, strlen(text));
}

void outfile_escaped(outfile *of, const char *text, size_t len) {
  size_t most = 6 * len + 16; /* \u0000 */
  char *at = outfile_room(of, most);
  dft_text from = {text, len};
  int bad = 0;
  char *end = at ? dft__escape_text(at, at + most, from, &bad) : NULL;
  if (end) of->len += (size_t)(end - at);
}

void outfile_int(outfile *of, int64_t number) {
  char *at = outfile_room(of, DFT__NUMBER_ROOM);
  if (at) of->len += (size_t)(dft__number_int(at, number) - at);
}

void outfile_us(outfile *of, int64_t ns) {
  int64_t us = ns / 1000;
  int64_t rest = ns % 1000;
  if (rest < 0) rest += 1000, us--;
  outfile_int(of, us);
  if (rest) {
    char digits[8];
    outfile_put(of, digits, (size_t)snprintf(digits, sizeof digits, ".%03d", (int)rest));
  }
}

int outfile_close(outfile *of, int is_complete) {
  if (is_complete) flush(of);
  if (of->fd != STDOUT_FILENO && of->fd >= 0 && close(of->fd) != 0 && !of->error) of->error = errno;
  if (of->path[0] && of->fd >= 0) {
    if (is_complete && !of->error && rename(of->part, of->path) != 0) of->error = errno;
    if (!is_complete || of->error) unlink(of->part);
  }
  of->fd = -1;
  free(of->text);
  free(of->packed);
  free(of->state);
  of->text = of->packed = NULL;
  of->state = NULL;
  return of->error;
}

void outfile_complain(const char *command, const char *path, int error) {
  if (error != EPIPE) fprintf(stderr, "dftracer %s: %s: %s\n", command, path, strerror(error));
}
