/* inputs.c - paths to readers.
 * SPDX-License-Identifier: MIT */
#include "inputs.h"

#include <stdio.h>
#include <stdlib.h>

#include "suffix.h"
#include "trouble.h"

#define TOLD_MOST 10

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

void inputs_free(inputs *of) {
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
