/* ignored.c - variables of the original DFTracer that have no effect here. They are accepted, and reported if they would
 * have changed the trace.
 * SPDX-License-Identifier: MIT */
#include "ignored.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "setting.h"

static const struct {
  const char *name;
  const char *key;
  const char *matters; /* "1" or "0" */
  const char *instead;
} ignored[] = {
#define IGNORED_ROW(name, key, matters, instead) {"DFTRACER_" name, key, matters, instead},
  DFT__IGNORED_LIST(IGNORED_ROW)
#undef IGNORED_ROW
};
enum { COUNT = sizeof ignored / sizeof ignored[0] };

static char in_file[COUNT]; /* nonzero: the file has a value that matters */

static int matters(int row, const char *text) {
  int64_t number;
  if (!ignored[row].matters || !text) return 0;
  return dft__setting_switch(text, &number) && number == (ignored[row].matters[0] == '1');
}

int dft__ignored_key(const char *path, const char *text) {
  static const char aggregation[] = "features.aggregation."; /* its rules are many keys */
  for (int i = 0; i < COUNT; i++) {
    if (strcmp(path, ignored[i].key) == 0) {
      in_file[i] = (char)matters(i, text);
      return 1;
    }
  }
  return strncmp(path, aggregation, sizeof aggregation - 1) == 0;
}

void dft__ignored_report(void) {
  char list[512] = "";
  size_t len = 0;
  for (int i = 0; i < COUNT; i++) {
    const char *text = secure_getenv(ignored[i].name);
    int counts = text && *text ? matters(i, text) : in_file[i];
    if (counts && len < sizeof list) {
      len += (size_t)snprintf(list + len, sizeof list - len, "%s%s (%s)", len ? ", " : "", ignored[i].name,
                              ignored[i].instead);
    }
    in_file[i] = 0;
  }
  if (len) dft__log(DFT__LOG_IGNORED, DFT__LOG_ERROR, "settings of the original without effect here: %s", list);
}
