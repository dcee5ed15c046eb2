/* trouble.c - reports the problems that the reader found.
 * SPDX-License-Identifier: MIT */
#include "trouble.h"

#include <dftracer/spool.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>

#include "command/cli/commands.h"
#include "command/cli/printable.h"
#include "standin.h"
#include "suffix.h"

#define HDF5_HINT \
  "read them with dftracer.trace.read (Python) or h5py, or record both formats with DFTRACER_SINK=jsonl,hdf5"

const char *trouble_text(int error) {
  return error == ESPIPE ? "a pipe or a device, but traces are read from files, or from stdin by the name -"
                         : strerror(error);
}

void trouble_print_at(FILE *out, const char *before, const char *path, const dft_problem *problem) {
  const char *what = problem->error ? trouble_text(problem->error) : problem->message;
  if (!path) {
    fprintf(out, "%s%s%s%s\n", before, printable(problem->detail), *problem->detail ? ": " : "", what);
    return;
  }
  fprintf(out, "%s%s:", before, printable(path));
  if (problem->line) fprintf(out, "%" PRIu64 ":", problem->line);
  else if (problem->kind != DFT_PROBLEM_FILE) fprintf(out, " byte %" PRIu64 ":", problem->byte);
  fprintf(out, " %s\n", what);
}

static void print_one(FILE *out, const char *before, dft_reader *reader, const dft_problem *problem) {
  dft_source source = {.struct_size = sizeof source};
  int is_known = problem->source != DFT_ALL && dft_reader_source(reader, problem->source, &source) == DFT_OK;
  const standin *from = is_known ? standin_find(source.path) : NULL;
  if (from && from->is_chrome) return; /* reported when its lines were made, with a better place */
  trouble_print_at(out, before, is_known ? standin_name(source.path) : NULL, problem);
}

/* Whether the file has lines, but none of them is an event. */
static int is_not_a_trace(dft_reader *reader, const dft_problem *problem) {
  dft_source source = {.struct_size = sizeof source};
  return problem->kind == DFT_PROBLEM_LINE && dft_reader_source(reader, problem->source, &source) == DFT_OK &&
         source.is_done && !source.rows;
}

const char *trouble_refusal(const char *path) {
  return ends_with(path, ".h5") ? "not a trace but HDF5 tables; " HDF5_HINT
                                : "not a trace: none of its lines is an event";
}

uint64_t trouble_print_all(FILE *out, const char *before, dft_reader *reader, uint32_t most) {
  uint64_t count = dft_reader_problem_count(reader, 0);
  dft_problem problem = {.struct_size = sizeof problem};
  uint32_t shown = 0, refused = DFT_ALL;
  uint64_t told = 0;
  for (uint32_t i = 0; shown < most && dft_reader_problem(reader, i, &problem) == DFT_OK; i++, told++) {
    if (problem.source == refused && refused != DFT_ALL) continue;
    if (is_not_a_trace(reader, &problem)) {
      dft_source source = {.struct_size = sizeof source};
      dft_reader_source(reader, refused = problem.source, &source);
      fprintf(out, "%s%s: %s\n", before, printable(standin_name(source.path)), trouble_refusal(source.path));
      told += source.problems -
              (source.problems < 1000 ? source.problems : 1000); /* the reader keeps no more than 1000 of a file */
    } else {
      print_one(out, before, reader, &problem);
    }
    shown++;
  }
  if (count > told) fprintf(out, "%s%" PRIu64 " more problem%s\n", before, count - told, count == told + 1 ? "" : "s");
  return count;
}

int trouble_status(dft_reader *reader) {
  dft_source source = {.struct_size = sizeof source};
  if (!dft_reader_problem_count(reader, 0)) return STATUS_DONE;
  for (uint32_t i = 0; dft_reader_source(reader, i, &source) == DFT_OK; i++) {
    if (source.rows) return STATUS_DAMAGED;
  }
  return STATUS_FAILED;
}

static int is_table(const char *name) {
  return ends_with(name, ".h5");
}

static int has_entry(const char *folder, int (*is_wanted)(const char *name)) {
  DIR *entries = opendir(folder);
  const struct dirent *entry;
  int found = 0;
  while (entries && !found && (entry = readdir(entries)) != NULL) found = is_wanted(entry->d_name);
  if (entries) closedir(entries);
  return found;
}

static void report_nothing(const char *before, const char *folder) {
  const char *hint = "run the program with DFTRACER_ENABLE=1 or with 'dftracer run' to record one";
  if (has_entry(folder, dft_spool_is_folder))
    hint = "a program is still recording there, or has died: run 'dftracer recover' to publish its trace";
  if (has_entry(folder, is_table)) hint = "it contains only HDF5 tables; " HDF5_HINT;
  fprintf(stderr, "%s%s: the folder contains no trace (*.pfw, *.pfw.gz); %s\n", before, printable(folder), hint);
}

dft_reader *trouble_open(const char *who, const dft_reader_options *options, char **paths, int count) {
  dft_reader *reader;
  char before[64];
  dft_status status = dft_reader_open(options, (const char *const *)paths, (size_t)count, &reader);
  if (status == DFT_OK) return reader;
  snprintf(before, sizeof before, "dftracer %s: ", who);
  if (!reader) fprintf(stderr, "%s%s\n", before, dft_status_text(status));
  else if (!trouble_print_all(stderr, before, reader, 10)) {
    for (int i = 0; i < count; i++) report_nothing(before, paths[i]);
  }
  dft_reader_close(reader);
  return NULL;
}
