/* inputs.c - paths to readers.
 * SPDX-License-Identifier: MIT */
#include "inputs.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "suffix.h"
#include "trouble.h"

#define TOLD_MOST 10

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

int inputs_sort(inputs *of, char **paths, int count) {
  memset(of, 0, sizeof *of);
  of->traces = calloc((size_t)count + 1, sizeof(char *));
  of->chrome = calloc((size_t)count + 1, sizeof(char *));
  if (!of->traces || !of->chrome) return 0;
  for (int i = 0; i < count; i++) {
    if (ends_with(paths[i], ".json") || ends_with(paths[i], ".json.gz")) of->chrome[of->chrome_count++] = paths[i];
    else of->traces[of->trace_count++] = paths[i];
  }
  return 1;
}

static int add_table(inputs *of, const char *path) {
  char **larger = realloc(of->tables, (of->table_count + 1) * sizeof *larger);
  if (!larger) return 0;
  of->tables = larger;
  of->tables[of->table_count] = strdup(path);
  return of->tables[of->table_count] && ++of->table_count;
}

static int is_trace_or_table(const struct dirent *entry) {
  return ends_with(entry->d_name, ".h5") || ends_with(entry->d_name, ".pfw") || ends_with(entry->d_name, ".pfw.gz") ||
         strcmp(entry->d_name, ".dftracer") == 0;
}

/* 1: its tables were taken; 0: there are traces in it, or nothing; -1: no memory. */
static int take_folder(inputs *of, const char *folder, const char *output) {
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
    if (is_one && !add_table(of, path)) result = -1;
    free(entries[i]);
  }
  free(entries);
  return result;
}

int inputs_take_tables(inputs *of, const char *output) {
  size_t kept = 0;
  for (size_t i = 0; i < of->trace_count; i++) {
    char *path = of->traces[i];
    int is_taken = ends_with(path, ".h5") ? (add_table(of, path) ? 1 : -1) : take_folder(of, path, output);
    if (is_taken < 0) return 0;
    if (!is_taken) of->traces[kept++] = path;
  }
  of->trace_count = kept;
  return 1;
}

void inputs_free(inputs *of) {
  for (size_t i = 0; i < of->table_count; i++) free(of->tables[i]);
  free(of->tables);
  free(of->traces);
  free(of->chrome);
}

int inputs_open(const inputs *of, const char *command, dft_reader **reader) {
  *reader = trouble_open(command, NULL, of->traces, (int)of->trace_count);
  return *reader != NULL;
}

uint64_t inputs_report(dft_reader *reader, const char *command) {
  char before[64];
  snprintf(before, sizeof before, "dftracer %s: ", command);
  return trouble_print_all(stderr, before, reader, TOLD_MOST);
}
