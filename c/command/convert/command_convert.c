/* command_convert.c - dftracer convert: writes traces in other formats.
 * SPDX-License-Identifier: MIT */

#include "command/cli/arguments.h"
#include "command/cli/printable.h"
#include "command/cli/terminal.h"
#include "command/merge/traceevents.h"
#include "command/trace/inputs.h"
#include "command/trace/standin.h"
#include "command/trace/trouble.h"
#include "csv.h"
#include "h5file.h"

static const option options[] = {
  {'o', "output", "FILE", "write to this file, compressed if its name ends in .gz; -: stdout"},
  {'t', "to", "chrome|csv|hdf5|hdf5-table|hdf5-links",
   "the format; default: by the suffix of the output (.json, .csv, .h5)"},
  {'q', "quiet", NULL, "do not print the summary line"},
  {0, NULL, NULL, NULL},
};

const command command_convert;

typedef struct conversion_job {
  const struct format *format;
  const char *output;
  char **paths;
  int path_count;
  int is_quiet;
} conversion_job;

static int write_chrome(const char *path, dft_reader *reader, progress *shown, uint64_t *events) {
  timeline merged;
  int error = timeline_open(&merged, path, "");
  if (error) return error;
  error = traceevents_add(&merged, reader, NULL, shown);
  *events = merged.events;
  return timeline_close(&merged, !error) ? merged.out.error : error;
}

static const struct format {
  const char *name;
  const char *suffix;
  int (*write)(const char *path, dft_reader *reader, progress *shown, uint64_t *events);
} formats[] = {
  {"chrome", ".json", write_chrome},         {"csv", ".csv", csv_write},  {"hdf5", ".h5", h5file_write},
  {"hdf5-table", ".h5", h5file_write_table}, {"hdf5-links", ".h5", NULL}, /* reads .h5 files, not traces */
};

#define FORMAT_COUNT (sizeof formats / sizeof formats[0])

/* By the format's name, or by the suffix of the output. NULL: unknown. */
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

/* ---- Traces ----------------------------------------------------------------------------------------------------------- */

static int convert_traces(const conversion_job *job, const inputs *sources) {
  dft_reader *reader;
  progress shown;
  char number[FORMAT_BYTES];
  uint64_t events = 0, done, all;
  int error, status;
  if (!inputs_open(sources, "convert", &reader)) return STATUS_FAILED;
  dft_reader_progress(reader, &done, &all);
  progress_begin(&shown, "convert", all, 1);
  error = job->format->write(job->output, reader, &shown, &events);
  progress_end(&shown);
  inputs_report(reader, "convert");
  status = trouble_status(reader);
  dft_reader_close(reader);
  if (error) outfile_complain("convert", job->output, error);
  else if (!job->is_quiet)
    fprintf(stderr, "dftracer convert: wrote %s event%s to %s\n", format_count(number, events), plural(events),
            printable(job->output));
  return error ? STATUS_FAILED : status;
}

/* ---- HDF5 files ------------------------------------------------------------------------------------------------------- */

static int merge_tables(const conversion_job *job, const inputs *sources) {
  char number[FORMAT_BYTES];
  uint64_t rows;
  int is_table = job->format->write == h5file_write_table;
  int error = h5file_merge(job->output, sources->tables, sources->table_count, is_table, &rows);
  if (error) outfile_complain("convert", job->output, error);
  else if (!job->is_quiet)
    fprintf(stderr, "dftracer convert: wrote %s row%s (events, counters and metadata) to %s\n",
            format_count(number, rows), plural(rows), printable(job->output));
  return error ? STATUS_FAILED : STATUS_DONE;
}

static int link_tables(const conversion_job *job) {
  int error = h5file_link(job->output, job->paths, (size_t)job->path_count);
  if (error) outfile_complain("convert", job->output, error);
  else if (!job->is_quiet)
    fprintf(stderr, "dftracer convert: %s shows %d file%s as one\n", printable(job->output), job->path_count,
            plural((uint64_t)job->path_count));
  return error ? STATUS_FAILED : STATUS_DONE;
}

/* ---- The command ------------------------------------------------------------------------------------------------------ */

/* The events of files in Chrome's format are rows of a table like others. */
static int take_timelines(inputs *sources) {
  for (size_t i = 0; i < sources->chrome_count; i++) {
    if (!standin_for_chrome("convert", &sources->chrome[i])) return 0;
    sources->traces[sources->trace_count++] = sources->chrome[i];
  }
  return 1;
}

static int convert(const conversion_job *job, const arguments *given) {
  int is_h5 = strcmp(job->format->suffix, ".h5") == 0;
  int error = is_h5 ? outfile_refused(job->output) : 0;
  int status;
  inputs sources;
  if (error) {
    outfile_complain("convert", job->output, error);
    return STATUS_FAILED;
  }
  if (!job->format->write) return link_tables(job);
  if (!inputs_sort(&sources, "convert", job->paths, job->path_count)) return STATUS_FAILED;
  if (is_h5 && !inputs_take_tables(&sources, job->output)) return arguments_refuse(given, "out of memory");
  if (sources.table_count && sources.trace_count)
    status = arguments_refuse(given, "%s contains HDF5 tables, but %s does not; convert them separately",
                              sources.tables[0], standin_name(sources.traces[0]));
  else if (sources.table_count) status = merge_tables(job, &sources);
  else if (sources.chrome_count && job->format->write == write_chrome)
    status = arguments_refuse(given, "%s is already in Chrome's format; use 'dftracer merge'",
                              standin_name(sources.chrome[0]));
  else status = take_timelines(&sources) ? convert_traces(job, &sources) : STATUS_FAILED;
  inputs_free(&sources);
  return status;
}

static int run_convert(int argc, char **argv) {
  arguments given = {.command = &command_convert, .argc = argc, .argv = argv};
  conversion_job job = {.is_quiet = 0};
  const char *name = NULL;
  int key;
  while ((key = arguments_next(&given)) > 0) {
    if (key == 'o') job.output = given.value;
    if (key == 't') name = given.value;
    if (key == 'q') job.is_quiet = 1;
  }
  if (key < 0) return given.status;
  job.paths = argv + given.first;
  job.path_count = given.count;
  if (!given.count) return arguments_refuse(&given, "no trace given: PATH is missing");
  if (!job.output) return arguments_refuse(&given, "no output given: -o FILE is missing");
  job.format = find_format(name, job.output);
  if (!job.format)
    return arguments_refuse(&given,
                            "%s: unknown format; choose one with --to: chrome (also for Perfetto), csv, hdf5, "
                            "hdf5-table, hdf5-links",
                            name ? name : job.output);
  if (inputs_hold(job.paths, job.path_count, job.output))
    return arguments_refuse(&given, "%s is also an input and would be overwritten; choose another name", job.output);
  return convert(&job, &given);
}

const command command_convert = {
  .name = "convert",
  .arguments = "PATH... -o FILE",
  .summary = "convert traces to Chrome JSON, CSV or HDF5",
  .text = "Writes the events of traces (.pfw, .pfw.gz, folders; -: stdin) to one file in another format. CSV and HDF5 "
          "are also made of files in Chrome's format (.json, .json.gz).\n\n"
          "  dftracer convert traces -o job.json.gz      # for Chrome and Perfetto\n"
          "  dftracer convert traces -o job.csv          # a line per event\n"
          "  dftracer convert traces -o job.h5           # HDF5 tables, with a column rank\n"
          "  dftracer convert traces -o job.h5 --to hdf5-table  # compound rows\n"
          "  dftracer convert a.h5 b.h5 -o job.h5        # merge HDF5 tables\n"
          "  dftracer convert a.h5 b.h5 -o job.h5 --to hdf5-links  # without copying\n\n"
          "Chrome JSON and CSV contain the names of files, hosts and commands instead of their hashes. Times are "
          "microseconds since the epoch. sinks/FORMAT.md describes the HDF5 files. Exit status 3: a "
          "trace is damaged, and the rest of it was converted.\n",
  .options = options,
  .run = run_convert,
};
