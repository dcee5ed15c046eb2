/* trouble.c - what the reader met, said to people.
 * SPDX-License-Identifier: MIT */
#include "trouble.h"

#include <inttypes.h>

void trouble_print(FILE *out, const char *before, dft_reader *reader, const dft_problem *problem) {
  dft_source source = {.struct_size = sizeof source};
  const char *what = problem->error ? strerror(problem->error) : problem->message;
  if (problem->source == DFT_ALL || dft_reader_source(reader, problem->source, &source) != DFT_OK) {
    fprintf(out, "%s%s%s%s\n", before, problem->detail, *problem->detail ? ": " : "", what);
    return;
  }
  fprintf(out, "%s%s:", before, source.path);
  if (problem->line) fprintf(out, "%" PRIu64 ":", problem->line);
  else if (problem->kind != DFT_PROBLEM_FILE) fprintf(out, " byte %" PRIu64 ":", problem->byte);
  fprintf(out, " %s\n", what);
}

uint64_t trouble_print_all(FILE *out, const char *before, dft_reader *reader, uint32_t most) {
  uint64_t count = dft_reader_problem_count(reader, 0);
  dft_problem problem = {.struct_size = sizeof problem};
  uint32_t shown = 0;
  while (shown < most && dft_reader_problem(reader, shown, &problem) == DFT_OK) {
    trouble_print(out, before, reader, &problem);
    shown++;
  }
  if (count > shown)
    fprintf(out, "%s%" PRIu64 " more problem%s\n", before, count - shown, count == shown + 1 ? "" : "s");
  return count;
}

dft_reader *trouble_open(const char *command, const dft_reader_options *options, char **paths, int count) {
  dft_reader *reader;
  char before[64];
  dft_status status = dft_reader_open(options, (const char *const *)paths, (size_t)count, &reader);
  if (status == DFT_OK) return reader;
  snprintf(before, sizeof before, "dftracer %s: ", command);
  if (!reader) fprintf(stderr, "%s%s\n", before, dft_status_text(status));
  else if (!trouble_print_all(stderr, before, reader, 10)) {
    fprintf(stderr, "%sno trace (*.pfw, *.pfw.gz) in the given folders\n", before);
  }
  dft_reader_close(reader);
  return NULL;
}
