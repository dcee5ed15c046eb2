/* inputs.c - paths to readers.
 * SPDX-License-Identifier: MIT */
#include "inputs.h"

#include <stdio.h>
#include <stdlib.h>

#define TOLD_MOST 10

static int ends_with(const char *text, const char *end) {
  size_t len = strlen(text);
  return len > strlen(end) && strcmp(text + len - strlen(end), end) == 0;
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

void inputs_free(inputs *of) {
  free(of->traces);
  free(of->chrome);
}

int inputs_open(const inputs *of, const char *command, dft_reader **reader) {
  dft_status status = dft_reader_open(NULL, (const char *const *)of->traces, of->trace_count, reader);
  if (status == DFT_OK) return 1;
  if (!*reader || !inputs_report(*reader, command)) {
    fprintf(stderr, "dftracer %s: nothing to read in %s%s\n", command, of->traces[0],
            of->trace_count > 1 ? " ..." : "");
  }
  dft_reader_close(*reader);
  *reader = NULL;
  return 0;
}

uint64_t inputs_report(dft_reader *reader, const char *command) {
  uint64_t all = dft_reader_problem_count(reader, 0);
  for (uint32_t i = 0; i < all && i < TOLD_MOST; i++) {
    dft_problem problem = {.struct_size = sizeof problem};
    dft_source source = {.struct_size = sizeof source};
    if (dft_reader_problem(reader, i, &problem) != DFT_OK) break;
    if (problem.source == DFT_ALL || dft_reader_source(reader, problem.source, &source) != DFT_OK)
      source.path = problem.detail;
    fprintf(stderr, "dftracer %s: %s", command, source.path);
    if (problem.line) fprintf(stderr, ", line %llu", (unsigned long long)problem.line);
    fprintf(stderr, ": %s%s%s\n", problem.message, problem.error ? ": " : "",
            problem.error ? strerror(problem.error) : "");
  }
  if (all > TOLD_MOST) fprintf(stderr, "dftracer %s: and %llu more\n", command, (unsigned long long)(all - TOLD_MOST));
  return all;
}
