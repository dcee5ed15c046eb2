/* inputs.c - sorts the paths given to a command.
 * SPDX-License-Identifier: MIT */
#include "inputs.h"

#include <dftracer/spool.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "chromefile.h"
#include "standin.h"
#include "suffix.h"
#include "trouble.h"

#define PROBLEMS_SHOWN 10

static int is_same(const char *path, const struct stat *other) {
  struct stat facts;
  return stat(path, &facts) == 0 && facts.st_dev == other->st_dev && facts.st_ino == other->st_ino;
}

int inputs_hold(char *const *paths, int count, const char *output) {
  struct stat file, folder = {0};
  char place[PATH_MAX];
  const char *slash = strrchr(output, '/');
  int is_trace = ends_with(output, ".pfw") || ends_with(output, ".pfw.gz");
  if (stat(output, &file) != 0) return 0;
  snprintf(place, sizeof place, "%.*s", slash ? (int)(slash - output) + 1 : 1, slash ? output : ".");
  if (!is_trace || stat(place, &folder) != 0) folder = file;
  for (int i = 0; i < count; i++) {
    if (is_same(paths[i], &file) || is_same(paths[i], &folder)) return 1;
  }
  return 0;
}

/* stdin has no suffix, so its content counts. */
static int is_chrome(const char *path) {
  return standin_find(path) ? chromefile_is(path, NULL) : ends_with(path, ".json") || ends_with(path, ".json.gz");
}

int inputs_sort(inputs *sources, const char *command, char **paths, int count) {
  memset(sources, 0, sizeof *sources);
  sources->traces = calloc((size_t)count + 1, sizeof(char *));
  sources->chrome = calloc((size_t)count + 1, sizeof(char *));
  if (!sources->traces || !sources->chrome) {
    fprintf(stderr, "dftracer %s: out of memory\n", command);
    return 0;
  }
  for (int i = 0; i < count; i++) {
    if (!standin_for_stdin(command, &paths[i])) return 0;
    if (is_chrome(paths[i])) sources->chrome[sources->chrome_count++] = paths[i];
    else sources->traces[sources->trace_count++] = paths[i];
  }
  return 1;
}

static int add_table(inputs *sources, const char *path) {
  char **larger = realloc(sources->tables, (sources->table_count + 1) * sizeof *larger);
  if (!larger) return 0;
  sources->tables = larger;
  sources->tables[sources->table_count] = strdup(path);
  return sources->tables[sources->table_count] && ++sources->table_count;
}

static int is_trace_or_table(const struct dirent *entry) {
  return ends_with(entry->d_name, ".h5") || ends_with(entry->d_name, ".pfw") || ends_with(entry->d_name, ".pfw.gz") ||
         dft_spool_is_folder(entry->d_name);
}

/* 1: its .h5 files were added; 0: it contains traces, or nothing; -1: no memory. */
static int take_folder(inputs *sources, const char *folder, const char *output) {
  struct dirent **entries;
  char path[PATH_MAX];
  struct stat own, facts;
  int count = scandir(folder, &entries, is_trace_or_table, alphasort);
  int result = count > 0;
  if (count < 0) return 0;
  if (stat(output, &own) != 0) own.st_ino = 0;
  for (int i = 0; i < count; i++) result = result && ends_with(entries[i]->d_name, ".h5");
  for (int i = 0; i < count; i++) {
    int is_one = result == 1 && snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name) < (int)sizeof path &&
                 stat(path, &facts) == 0 && (facts.st_ino != own.st_ino || facts.st_dev != own.st_dev);
    if (is_one && !add_table(sources, path)) result = -1;
    free(entries[i]);
  }
  free(entries);
  return result;
}

int inputs_take_tables(inputs *sources, const char *output) {
  size_t kept = 0;
  for (size_t i = 0; i < sources->trace_count; i++) {
    char *path = sources->traces[i];
    int is_taken = ends_with(path, ".h5") ? (add_table(sources, path) ? 1 : -1) : take_folder(sources, path, output);
    if (is_taken < 0) return 0;
    if (!is_taken) sources->traces[kept++] = path;
  }
  sources->trace_count = kept;
  return 1;
}

void inputs_free(inputs *sources) {
  for (size_t i = 0; i < sources->table_count; i++) free(sources->tables[i]);
  free(sources->tables);
  free(sources->traces);
  free(sources->chrome);
}

int inputs_open(const inputs *sources, const char *command, dft_reader **reader) {
  *reader = trouble_open(command, NULL, sources->traces, (int)sources->trace_count);
  return *reader != NULL;
}

uint64_t inputs_report(dft_reader *reader, const char *command) {
  char before[64];
  snprintf(before, sizeof before, "dftracer %s: ", command);
  return trouble_print_all(stderr, before, reader, PROBLEMS_SHOWN);
}

dft_reader *inputs_reopen(dft_reader *reader) {
  const uint32_t count = dft_reader_source_count(reader);
  const char **paths = calloc((size_t)count + 1, sizeof *paths);
  dft_reader *second = NULL;
  for (uint32_t i = 0; paths && i < count; i++) {
    dft_source source = {.struct_size = sizeof source};
    dft_reader_source(reader, i, &source);
    paths[i] = source.path;
  }
  if (paths && dft_reader_open(NULL, paths, count, &second) == DFT_ENOMEM) {
    dft_reader_close(second);
    second = NULL;
  }
  free(paths);
  return second;
}
