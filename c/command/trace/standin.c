/* standin.c - files that stand in for stdin and for files in Chrome's format.
 * SPDX-License-Identifier: MIT */
#include "standin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chromefile.h"
#include "chromelines.h"
#include "command/cli/printable.h"
#include "spill.h"

#define COPY_BYTES (256u << 10)

static standin *first; /* commands end soon: nothing is ever removed */

static int complain(const char *command, const char *name, int error) {
  fprintf(stderr, "dftracer %s: %s: %s\n", command, printable(name), strerror(error));
  return 0;
}

static int complain_spill(const char *command, int error) {
  complain(command, spill_folder(), error);
  fprintf(stderr, "dftracer %s: set TMPDIR to a folder with more room\n", command);
  return 0;
}

static standin *add(int fd, const char *name) {
  standin *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  snprintf(made->path, sizeof made->path, "/proc/self/fd/%d", fd);
  made->name = name;
  made->next = first;
  return first = made;
}

const standin *standin_find(const char *path) {
  const standin *found = first;
  while (found && strcmp(found->path, path) != 0) found = found->next;
  return found;
}

const char *standin_name(const char *path) {
  const standin *found = standin_find(path);
  return found ? found->name : path;
}

/* ---- stdin ---------------------------------------------------------------------------------------------------------- */

static int write_all(int to, const char *bytes, size_t len) {
  while (len) {
    ssize_t put = write(to, bytes, len);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return 0;
    bytes += put;
    len -= (size_t)put;
  }
  return 1;
}

/* Zero, with errno; *is_written says whether writing did not fail. */
static int copy(int to, uint64_t *bytes, int *is_written) {
  char *piece = malloc(COPY_BYTES);
  ssize_t got = -1;
  *is_written = 1;
  while (piece && *is_written && (got = read(STDIN_FILENO, piece, COPY_BYTES)) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    *is_written = write_all(to, piece, (size_t)got);
    *bytes += (uint64_t)got;
  }
  free(piece);
  return got == 0;
}

/* A file is read where it is, unless a part of it was read before. Returns a descriptor, or -1 after a message. */
static int open_stdin(const char *command, uint64_t *bytes) {
  struct stat facts;
  int fd, is_written;
  if (fstat(STDIN_FILENO, &facts) != 0) return complain(command, "stdin", errno) - 1;
  if (isatty(STDIN_FILENO)) {
    fprintf(stderr, "dftracer %s: stdin is a terminal; - reads a trace from a pipe or a file\n", command);
    return -1;
  }
  *bytes = (uint64_t)facts.st_size;
  if (S_ISREG(facts.st_mode) && lseek(STDIN_FILENO, 0, SEEK_CUR) == 0) return STDIN_FILENO;
  fd = spill_new_file();
  if (fd < 0) return complain_spill(command, errno) - 1;
  *bytes = 0;
  if (copy(fd, bytes, &is_written)) return fd;
  if (is_written) complain(command, "stdin", errno);
  else complain_spill(command, errno);
  close(fd);
  return -1;
}

int standin_for_stdin(const char *command, char **path) {
  static standin *made; /* stdin can be read once, however often it is named */
  uint64_t bytes = 0;
  int fd;
  if (strcmp(*path, "-") != 0) return 1;
  if (!made) {
    fd = open_stdin(command, &bytes);
    if (fd < 0) return 0;
    if (!bytes) {
      fprintf(stderr, "dftracer %s: stdin is empty; did the command before the pipe fail?\n", command);
      return 0;
    }
    made = add(fd, "stdin");
    if (!made) return complain(command, "stdin", ENOMEM);
    made->bytes = bytes;
  }
  *path = made->path;
  return 1;
}

/* ---- Chrome's format ------------------------------------------------------------------------------------------------ */

int standin_for_chrome(const char *command, char **path) {
  const char *name = standin_name(*path);
  const standin *source = standin_find(*path);
  standin *made;
  struct stat facts;
  int fd, error;
  if (!chromefile_is(*path, source ? NULL : name) || stat(*path, &facts) != 0) return 1;
  for (made = first; made; made = made->next) {
    if (!made->is_chrome || made->device != facts.st_dev || made->inode != facts.st_ino) continue;
    *path = made->path; /* the same file again, perhaps by another path */
    return 1;
  }
  fd = spill_new_file();
  if (fd < 0) return complain_spill(command, errno);
  made = add(fd, name);
  error = made ? chromelines_write(command, *path, name, fd) : ENOMEM;
  if (error == ENOSPC || error == EDQUOT) return complain_spill(command, error);
  if (error) return complain(command, name, error);
  made->is_chrome = 1;
  made->device = facts.st_dev;
  made->inode = facts.st_ino;
  made->bytes = source ? source->bytes : (uint64_t)facts.st_size;
  *path = made->path;
  return 1;
}

int standin_for_all(const char *command, char **paths, int count) {
  for (int i = 0; i < count; i++) {
    if (!standin_for_stdin(command, &paths[i]) || !standin_for_chrome(command, &paths[i])) return 0;
  }
  return 1;
}
