/* tracefolder.c - the names inside .dftracer/.
 * SPDX-License-Identifier: MIT */
#include "tracefolder.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#define FOLDER DFT_SPOOL_FOLDER
#define SUFFIX DFT_SPOOL_SUFFIX

static int fits(int len, size_t size) {
  return len > 0 && (size_t)len < size;
}

int dft__tracefolder_inner(char *path, size_t size, const char *folder) {
  return fits(snprintf(path, size, "%s/" FOLDER, folder), size);
}

int dft__tracefolder_claim(char *path, size_t size, const char *folder, const char *base) {
  return fits(snprintf(path, size, "%s/" FOLDER "/%s" SUFFIX, folder, base), size);
}

int dft__tracefolder_live(char *path, size_t size, const char *folder, const char *base, uint32_t index,
                          const char *sink) {
  return fits(snprintf(path, size, "%s/" FOLDER "/%s.%u-%s", folder, base, index, sink), size);
}

int dft__tracefolder_live_beside(char *path, size_t size, const char *claim, const char *base, uint32_t index,
                                 const char *sink) {
  const char *slash = strrchr(claim, '/');
  int len = slash ? (int)(slash + 1 - claim) : 0;
  return fits(snprintf(path, size, "%.*s%s.%u-%s", len, claim, base, index, sink), size);
}

size_t dft__tracefolder_base_len(const char *name) {
  size_t len = strlen(name), end = sizeof SUFFIX - 1;
  return len > end && strcmp(name + len - end, SUFFIX) == 0 ? len - end : 0;
}

int dft__tracefolder_is_inner(const char *path) {
  size_t len = strlen(path), end = sizeof "/" FOLDER - 1;
  return len > end && strcmp(path + len - end, "/" FOLDER) == 0;
}

size_t dft__tracefolder_folder_len(const char *claim) {
  const char *slash = strrchr(claim, '/');
  size_t end = sizeof "/" FOLDER - 1;
  if (!slash || (size_t)(slash - claim) <= end || !dft__tracefolder_base_len(slash + 1)) return 0;
  return strncmp(slash - end, "/" FOLDER, end) == 0 ? (size_t)(slash - claim) - end : 0;
}

int dft__tracefolder_find_live(const char *folder, const char *base, uint32_t index, char sink[256]) {
  char path[4608], start[300];
  size_t len = (size_t)snprintf(start, sizeof start, "%.255s.%u-", base, index);
  const struct dirent *entry;
  DIR *entries;
  sink[0] = '\0';
  if (!dft__tracefolder_inner(path, sizeof path, folder)) return 0;
  entries = opendir(path);
  while (entries && (entry = readdir(entries)) != NULL) {
    const char *name = entry->d_name;
    if (strncmp(name, start, len) != 0 || !name[len]) continue;
    if (!sink[0] || strlen(name + len) < strlen(sink)) snprintf(sink, 256, "%s", name + len);
  }
  if (entries) closedir(entries);
  return sink[0] != '\0';
}
