/* extension.c - commands from elsewhere: dftracer X runs dftracer-X.
 * SPDX-License-Identifier: MIT */
#include "extension.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands.h"
#include "printable.h"

#define PREFIX "dftracer-"

/* The folder of this program, with a slash at its end; zero when it cannot be found. */
static int own_folder(char folder[PATH_MAX]) {
  ssize_t len = readlink("/proc/self/exe", folder, PATH_MAX - 1);
  char *slash;
  if (len <= 0) return 0;
  folder[len] = '\0';
  slash = strrchr(folder, '/');
  if (!slash) return 0;
  slash[1] = '\0';
  return 1;
}

static int is_plain_name(const char *name) {
  if (!*name || *name == '-') return 0;
  for (; *name; name++) {
    if (!isalnum((unsigned char)*name) && *name != '-' && *name != '_' && *name != '.') return 0;
  }
  return 1;
}

void extension_run(char **argv) {
  char folder[PATH_MAX];
  char path[PATH_MAX + 256];
  char name[256];
  char *word = argv[0];
  if (!is_plain_name(word) || snprintf(name, sizeof name, PREFIX "%s", word) >= (int)sizeof name) return;
  if (own_folder(folder) && snprintf(path, sizeof path, "%s%s", folder, name) < (int)sizeof path &&
      access(path, X_OK) == 0) {
    argv[0] = path;
    execv(path, argv);
    fprintf(stderr, "dftracer: cannot run %s: %s\n", printable(path), strerror(errno));
    exit(STATUS_FAILED);
  }
  argv[0] = name;
  execvp(name, argv);
  if (errno != ENOENT) {
    fprintf(stderr, "dftracer: cannot run %s: %s\n", printable(name), strerror(errno));
    exit(STATUS_FAILED);
  }
  argv[0] = word;
}

static int compare(const void *left, const void *right) {
  return strcmp(*(const char *const *)left, *(const char *const *)right);
}

void extension_each(void (*call)(const char *name, void *context), void *context) {
  char folder[PATH_MAX];
  char *names[64];
  size_t count = 0;
  DIR *entries = own_folder(folder) ? opendir(folder) : NULL;
  struct dirent *entry;
  if (!entries) return;
  while (count < sizeof names / sizeof names[0] && (entry = readdir(entries)) != NULL) {
    if (strncmp(entry->d_name, PREFIX, sizeof PREFIX - 1) != 0) continue;
    if (faccessat(dirfd(entries), entry->d_name, X_OK, 0) != 0) continue;
    if (!command_find(entry->d_name + sizeof PREFIX - 1)) names[count++] = strdup(entry->d_name + sizeof PREFIX - 1);
  }
  closedir(entries);
  qsort(names, count, sizeof names[0], compare);
  for (size_t i = 0; i < count; i++) {
    if (names[i]) call(names[i], context);
    free(names[i]);
  }
}
