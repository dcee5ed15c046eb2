/* convert.c - dftracer convert: traces in other formats.
 * SPDX-License-Identifier: MIT */
#include <errno.h>

#include "command/cli/arguments.h"
#include "command/cli/terminal.h"
#include "command/merge/timeline.h"
#include "command/trace/inputs.h"
#include "csv.h"
#include "h5file.h"

static const option options[] = {
  {'o', "output", "FILE", "where it goes; a name that ends in .gz is compressed; -: stdout"},
  {'t', "to", "chrome|csv|hdf5|hdf5-table|hdf5-links",
   "the format; default: what the name of the output says (.json, .csv, .h5)"},
  {'q', "quiet", NULL, "no line at the end"},
  {0, NULL, NULL, NULL},
};

const command command_convert;

static int to_chrome(const char *path, dft_reader *reader, progress *shown, uint64_t *events) {
  timeline to;
  int error = timeline_open(&to, path, "");
  if (error) return error;
  error = timeline_add_reader(&to, reader, shown);
  *events = to.events;
  return timeline_close(&to, !error) ? to.out.error : error;
}

static const struct format {
  const char *name;
  const char *suffix;
  int (*write)(const char *path, dft_reader *reader, progress *shown, uint64_t *events);
} formats[] = {
  {"chrome", ".json", to_chrome}, {"csv", ".csv", csv_write},
  {"hdf5", ".h5", h5file_write},  {"hdf5-table", ".h5", h5file_write_table},
  {"hdf5-links", ".h5", NULL}, /* of .h5 files, not of traces */
};

#define FORMAT_COUNT (sizeof formats / sizeof formats[0])

/* By the name, or by the end of the output's. NULL: none. */
static const struct format *find_format(const char *name, const char *output) {
  size_t len = strlen(output);
  if (len > 3 && strcmp(output + len - 3, ".gz") == 0) len -= 3;
  for (size_t i = 0; i < FORMAT_COUNT; i++) {
    size_t end = strlen(formats[i].suffix);
    if (name ? strcmp(formats[i].name, name) == 0
             : len > end && strncmp(output + len - end, formats[i].suffix, end) == 0) {
      return &formats[i];
    }
  }
  return NULL;
}

static int convert(const inputs *from, const struct format *to, const char *output, int is_quiet) {
  dft_reader *reader;
  progress shown;
  char text[FORMAT_BYTES];
  uint64_t events = 0, done, all;
  uint64_t problems;
  int error;
  if (!inputs_open(from, "convert", &reader)) return STATUS_FAILED;
  dft_reader_progress(reader, &done, &all);
  progress_begin(&shown, "convert", all, 1);
  error = to->write(output, reader, &shown, &events);
  progress_end(&shown);
  problems = inputs_report(reader, "convert");
  dft_reader_close(reader);
  if (error) outfile_complain("convert", output, error);
  else if (!is_quiet)
    fprintf(stderr, "dftracer convert: %s event%s in %s\n", format_count(text, events), events == 1 ? " is" : "s are",
            output);
  return error || problems ? STATUS_FAILED : STATUS_DONE;
}

static int merge_files(const inputs *from, const char *output, int is_table, int is_quiet) {
  char text[FORMAT_BYTES];
  uint64_t events;
  int error = h5file_merge(output, from->tables, from->table_count, is_table, &events);
  if (error) fprintf(stderr, "dftracer convert: %s: %s\n", output, strerror(error));
  else if (!is_quiet)
    fprintf(stderr, "dftracer convert: %s rows (events, counters, metadata) are in %s\n", format_count(text, events),
            output);
  return error ? STATUS_FAILED : STATUS_DONE;
}

static int link_files(char *const *paths, int count, const char *output, int is_quiet) {
  int error = h5file_link(output, paths, (size_t)count);
  if (error) fprintf(stderr, "dftracer convert: %s: %s\n", output, strerror(error));
  else if (!is_quiet) fprintf(stderr, "dftracer convert: %s shows %d files as one\n", output, count);
  return error ? STATUS_FAILED : STATUS_DONE;
}

static int run_convert(int argc, char **argv) {
  arguments given = {.command = &command_convert, .argc = argc, .argv = argv};
  const char *output = NULL, *name = NULL;
  const struct format *to;
  inputs from;
  int is_quiet = 0;
  int is_h5;
  int key;
  while ((key = arguments_next(&given)) > 0) {
    if (key == 'o') output = given.value;
    if (key == 't') name = given.value;
    if (key == 'q') is_quiet = 1;
  }
  if (key < 0) return given.status;
  if (!given.count) return arguments_refuse(&given, "what? PATH is missing");
  if (!output) return arguments_refuse(&given, "where to? -o FILE is missing");
  to = find_format(name, output);
  if (!to)
    return arguments_refuse(
      &given, "%s: no format of these: --to chrome (for Perfetto, too), csv, hdf5, hdf5-table, hdf5-links",
      name ? name : output);
  if (inputs_hold(argv + given.first, given.count, output))
    return arguments_refuse(&given, "%s would be read and replaced; choose another name", output);
  is_h5 = strcmp(to->suffix, ".h5") == 0;
  key = is_h5 ? outfile_refused(output) : 0;
  if (key) {
    outfile_complain("convert", output, key);
    return STATUS_FAILED;
  }
  if (!to->write) return link_files(argv + given.first, given.count, output, is_quiet);
  if (!inputs_sort(&from, argv + given.first, given.count) || (is_h5 && !inputs_take_tables(&from, output)))
    return arguments_refuse(&given, "no memory left");
  if (from.table_count && from.trace_count)
    key = arguments_refuse(&given, "%s holds HDF5 tables, %s does not: one or the other", from.tables[0],
                           from.traces[0]);
  else if (from.table_count) key = merge_files(&from, output, to->write == h5file_write_table, is_quiet);
  else if (from.chrome_count)
    key = arguments_refuse(&given, "%s is in Chrome's format already; see dftracer merge", from.chrome[0]);
  else key = convert(&from, to, output, is_quiet);
  inputs_free(&from);
  return key;
}

const command command_convert = {
  .name = "convert",
  .arguments = "PATH... -o FILE",
  .summary = "traces as Chrome JSON, CSV or HDF5",
  .text =
    "Writes the events of traces (.pfw, .pfw.gz, folders) into one file of another format.\n\n"
    "  dftracer convert traces -o job.json.gz      # for Chrome and Perfetto\n"
    "  dftracer convert traces -o job.csv          # one line an event, the arguments as JSON\n"
    "  dftracer convert traces -o job.h5           # HDF5 tables, with a column rank\n"
    "  dftracer convert traces -o job.h5 --to hdf5-table     # compound rows, for PyTables and pandas\n"
    "  dftracer convert a.h5 b.h5 -o job.h5        # the same of what was recorded as HDF5 tables\n"
    "  dftracer convert a.h5 b.h5 -o job.h5 --to hdf5-links  # many .h5 files as one, not copied\n\n"
    "In Chrome JSON and CSV names of files, hosts and commands stand for their hashes; times are microseconds since "
    "the epoch. sinks/FORMAT.md says what is in an HDF5 file.\n",
  .options = options,
  .run = run_convert,
};
