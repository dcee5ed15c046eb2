/* variables.c - environment variables that have no effect: DFTRACER_* that no setting has, and folders that do not exist.
 * SPDX-License-Identifier: MIT */
#include "variables.h"

#include <dftracer/dft.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alike.h"
#include "base/ignored.h"

/* Settings of the original DFTracer that have no effect here. */
static int is_accepted(const char *name) {
  static const char *const accepted[] = {
#define ACCEPTED_ROW(name, key, matters, instead) "DFTRACER_" name,
    DFT__IGNORED_LIST(ACCEPTED_ROW)
#undef ACCEPTED_ROW
  };
  for (size_t i = 0; i < sizeof accepted / sizeof accepted[0]; i++) {
    if (strcmp(name, accepted[i]) == 0) return 1;
  }
  return 0;
}

void variables_each_unknown(void (*call)(const char *name, const char *nearest, void *context), void *context) {
  for (char **at = environ; *at; at++) {
    size_t len = strcspn(*at, "=");
    dft_setting setting = {.struct_size = sizeof setting};
    const char *nearest = NULL;
    char name[128];
    int is_known = 0;
    if (strncmp(*at, "DFTRACER_", 9) != 0 || len >= sizeof name || !(*at)[len] || !(*at)[len + 1]) continue;
    snprintf(name, sizeof name, "%.*s", (int)len, *at);
    for (uint32_t i = 0; !is_known && dft_config_describe(i, &setting); i++) {
      is_known = strcmp(name, setting.name) == 0;
      if (dft__is_alike(name + 9, len - 9, setting.name + 9, strlen(setting.name + 9))) nearest = setting.name;
    }
    if (!is_known && !is_accepted(name)) call(name, nearest, context);
  }
}

void variables_each_missing(const char *folders, void (*call)(const char *folder, void *context), void *context) {
  char list[PATH_MAX], *rest = list, *folder;
  struct stat facts;
  snprintf(list, sizeof list, "%s", folders);
  while ((folder = strsep(&rest, ":")) != NULL) {
    if (*folder && strcmp(folder, "all") != 0 && stat(folder, &facts) != 0) call(folder, context);
  }
}
