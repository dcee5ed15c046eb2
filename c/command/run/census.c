/* census.c - traces in a folder, before and after.
 * SPDX-License-Identifier: MIT */
#include "census.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "command/trace/suffix.h"
#include "lastline.h"

static int is_text_trace(const char *name) {
  return ends_with(name, ".pfw") || ends_with(name, ".pfw.gz");
}

static int compare(const void *left, const void *right) {
  return strcmp(((const census_file *)left)->name, ((const census_file *)right)->name);
}

void census_take(census *of, const char *folder) {
  DIR *entries = opendir(folder);
  struct dirent *entry;
  size_t room = 0;
  of->files = NULL;
  of->count = 0;
  while (entries && (entry = readdir(entries)) != NULL) {
    struct stat facts;
    if (!is_text_trace(entry->d_name) && !ends_with(entry->d_name, ".h5")) continue;
    if (fstatat(dirfd(entries), entry->d_name, &facts, 0) != 0 || !S_ISREG(facts.st_mode)) continue;
    if (of->count == room) {
      census_file *more = realloc(of->files, (room = room ? 2 * room : 64) * sizeof *more);
      if (!more) break;
      of->files = more;
    }
    of->files[of->count].name = strdup(entry->d_name);
    of->files[of->count].inode = facts.st_ino;
    of->files[of->count].changed = facts.st_mtim;
    if (of->files[of->count].name) of->count++;
  }
  if (entries) closedir(entries);
  if (of->count) qsort(of->files, of->count, sizeof *of->files, compare);
}

void census_forget_newer(census *of, struct timespec since) {
  size_t kept = 0;
  for (size_t i = 0; i < of->count; i++) {
    struct timespec changed = of->files[i].changed;
    if (changed.tv_sec < since.tv_sec || (changed.tv_sec == since.tv_sec && changed.tv_nsec < since.tv_nsec))
      of->files[kept++] = of->files[i];
    else free(of->files[i].name);
  }
  of->count = kept;
}

void census_free(census *of) {
  for (size_t i = 0; i < of->count; i++) free(of->files[i].name);
  free(of->files);
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
    ending end;
    if (is_old(before, &now.files[i])) continue;
    snprintf(path, sizeof path, "%s/%s", folder, now.files[i].name);
    result->traces++;
    if (!is_text_trace(path) || !ending_read(path, &end)) {
      result->uncounted++;
      continue;
    }
    result->events += end.events;
    result->dropped += end.dropped;
    result->recovered += (uint32_t)end.is_recovered;
  }
  census_free(&now);
}
