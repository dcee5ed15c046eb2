/* paths.c - files, folders and globs as sources.
 * SPDX-License-Identifier: MIT */
#include "paths.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "problem.h"

#define DEPTH_MAX 64 /* of nested folders */

static void complain(dft_reader *reader, const char *path, int error) {
  dft__problem_entry problem = {.kind = DFT_PROBLEM_FILE, .error = error, .line_in_unit = UINT64_MAX};
  dft__problem_add(reader, DFT_ALL, &problem, path, strlen(path));
}

/* Another path to a file that is a source already must not count its events again. */
static int is_known(const dft_reader *reader, const char *path, const struct stat *facts) {
  for (uint32_t i = 0; i < reader->source_count; i++) {
    const dft__source_state *source = &reader->sources[i];
    if (facts->st_ino ? source->inode == facts->st_ino && source->device == facts->st_dev
                      : strcmp(source->path, path) == 0)
      return 1;
  }
  return 0;
}

static int add_file(dft_reader *reader, const char *path) {
  dft__source_state *source;
  struct stat facts;
  if (stat(path, &facts) != 0) facts.st_ino = 0; /* opening it reports the problem */
  if (is_known(reader, path, &facts)) return 1;
  if (reader->source_count == reader->source_capacity) {
    uint32_t capacity = reader->source_capacity ? reader->source_capacity * 2 : 16;
    dft__source_state *more = realloc(reader->sources, capacity * sizeof *more);
    if (!more) return 0;
    reader->sources = more;
    reader->source_capacity = capacity;
  }
  source = &reader->sources[reader->source_count];
  memset(source, 0, sizeof *source);
  source->unit_ns = 1000;
  source->device = facts.st_ino ? facts.st_dev : 0;
  source->inode = facts.st_ino;
  source->path = strdup(path);
  if (!source->path) return 0;
  reader->source_count++;
  return 1;
}

static int ends_with(const char *text, const char *end) {
  size_t len = strlen(text), end_len = strlen(end);
  return len > end_len && strcmp(text + len - end_len, end) == 0;
}

static int is_trace_name(const dft_reader *reader, const char *folder, const char *name) {
  const char *slash = strrchr(folder, '/');
  if (ends_with(name, ".pfw") || ends_with(name, ".pfw.gz")) return 1;
  return !reader->options.skip_spools && ends_with(name, DFT_SPOOL_SUFFIX) && slash && dft_spool_is_folder(slash + 1);
}

static int add_folder(dft_reader *reader, const char *folder, int depth) {
  struct dirent **entries;
  int count = scandir(folder, &entries, NULL, alphasort);
  int is_good = 1;
  if (count < 0) {
    complain(reader, folder, errno);
    return 1;
  }
  for (int i = 0; i < count; i++) {
    const char *name = entries[i]->d_name;
    char path[4096];
    struct stat facts;
    int fits = snprintf(path, sizeof path, "%s%s%s", folder, ends_with(folder, "/") || !strcmp(folder, "/") ? "" : "/",
                        name) < (int)sizeof path;
    if (is_good && fits && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && lstat(path, &facts) == 0) {
      if (S_ISDIR(facts.st_mode)) {
        if (depth < DEPTH_MAX) is_good = add_folder(reader, path, depth + 1);
      } else if (is_trace_name(reader, folder, name)) {
        is_good = add_file(reader, path);
      }
    }
    free(entries[i]);
  }
  free(entries);
  return is_good;
}

static int add_existing(dft_reader *reader, const char *path) {
  struct stat facts;
  if (stat(path, &facts) != 0) {
    complain(reader, path, errno);
    return 1;
  }
  if (S_ISDIR(facts.st_mode)) return add_folder(reader, path, 0);
  return add_file(reader, path);
}

int dft__paths_add(dft_reader *reader, const char *path) {
  struct stat facts;
  glob_t found;
  int is_good = 1;
  if (stat(path, &facts) == 0 || !strpbrk(path, "*?[")) return add_existing(reader, path);
  if (glob(path, 0, NULL, &found) != 0) {
    complain(reader, path, ENOENT);
    return 1;
  }
  for (size_t i = 0; is_good && i < found.gl_pathc; i++) is_good = add_existing(reader, found.gl_pathv[i]);
  globfree(&found);
  return is_good;
}
