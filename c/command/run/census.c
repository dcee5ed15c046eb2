/* census.c - traces in a folder, before and after a run.
 * SPDX-License-Identifier: MIT */
#include "census.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "command/trace/suffix.h"
#include "traceend.h"

static int is_text_trace(const char *name) {
  return ends_with(name, ".pfw") || ends_with(name, ".pfw.gz");
}

static int compare(const void *left, const void *right) {
  return strcmp(((const census_file *)left)->name, ((const census_file *)right)->name);
}

void census_take(census *traces, const char *folder) {
  DIR *entries = opendir(folder);
  struct dirent *entry;
  size_t room = 0;
  traces->files = NULL;
  traces->count = 0;
  while (entries && (entry = readdir(entries)) != NULL) {
    struct stat facts;
    if (!is_text_trace(entry->d_name) && !ends_with(entry->d_name, ".h5")) continue;
    if (fstatat(dirfd(entries), entry->d_name, &facts, 0) != 0 || !S_ISREG(facts.st_mode)) continue;
    if (traces->count == room) {
      census_file *more = realloc(traces->files, (room = room ? 2 * room : 64) * sizeof *more);
      if (!more) break;
      traces->files = more;
    }
    traces->files[traces->count].name = strdup(entry->d_name);
    traces->files[traces->count].inode = facts.st_ino;
    traces->files[traces->count].changed = facts.st_mtim;
    if (traces->files[traces->count].name) traces->count++;
  }
  if (entries) closedir(entries);
  if (traces->count) qsort(traces->files, traces->count, sizeof *traces->files, compare);
}

void census_forget_newer(census *traces, struct timespec since) {
  size_t kept = 0;
  for (size_t i = 0; i < traces->count; i++) {
    struct timespec changed = traces->files[i].changed;
    if (changed.tv_sec < since.tv_sec || (changed.tv_sec == since.tv_sec && changed.tv_nsec < since.tv_nsec))
      traces->files[kept++] = traces->files[i];
    else free(traces->files[i].name);
  }
  traces->count = kept;
}

void census_free(census *traces) {
  for (size_t i = 0; i < traces->count; i++) free(traces->files[i].name);
  free(traces->files);
}

static int is_old(const census *before, const census_file *file) {
  const census_file *found = before->count ? bsearch(file, before->files, before->count, sizeof *before->files, compare)
                                           : NULL;
  return found && found->inode == file->inode && found->changed.tv_sec == file->changed.tv_sec &&
         found->changed.tv_nsec == file->changed.tv_nsec;
}

void census_compare(const census *before, const char *folder, census_result *result) {
  census now;
  memset(result, 0, sizeof *result);
  census_take(&now, folder);
  for (size_t i = 0; i < now.count; i++) {
    char path[PATH_MAX + 256];
    trace_end end;
    if (is_old(before, &now.files[i])) continue;
    snprintf(path, sizeof path, "%s/%s", folder, now.files[i].name);
    result->traces++;
    if (!is_text_trace(path) || !trace_end_read(path, &end)) {
      result->uncounted++;
      continue;
    }
    result->events += end.events;
    result->dropped += end.dropped;
    result->recovered += (uint32_t)end.is_recovered;
  }
  census_free(&now);
}
