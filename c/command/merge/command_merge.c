/* command_merge.c - dftracer merge: merges many traces, also those of torch.profiler, into one timeline.
 * SPDX-License-Identifier: MIT */
#include <dftracer/spool.h>
#include <stdlib.h>

#include "align.h"
#include "command/cli/arguments.h"
#include "command/cli/printable.h"
#include "command/cli/terminal.h"
#include "command/trace/inputs.h"
#include "command/trace/suffix.h"
#include "guestevents.h"
#include "mpiclocks.h"
#include "traceevents.h"

enum { KEY_ALIGN = OPTION_LONG + 1 };

static const option options[] = {
  {'o', "output", "FILE", "write the timeline to this file; .json, or .json.gz to compress; -: stdout"},
  {KEY_ALIGN, "align", "auto|clock|start|event:NAME",
   "how to align the clocks of nodes: auto (default) corrects those that contradict recorded MPI calls; clock leaves "
   "them unchanged; start makes the first events of all nodes coincide; event:NAME makes the ends of events with that "
   "name coincide, such as those of a barrier"},
  {'q', "quiet", NULL, "do not print the summary line"},
  {0, NULL, NULL, NULL},
};

const command command_merge;

typedef struct merge_job {
  inputs sources;
  const char *output;
  const char *method; /* of --align */
  int is_quiet;
  int is_damaged; /* an input could not be read completely */
  int has_read;   /* something of the inputs is in the timeline */
} merge_job;

static int add_all(timeline *merged, merge_job *job, dft_reader *reader, const alignment *clocks, progress *shown) {
  int error = reader ? traceevents_add(merged, reader, clocks, shown) : 0;
  for (size_t i = 0; i < job->sources.chrome_count && !error; i++) {
    if (!guestevents_add(merged, "merge", job->sources.chrome[i], (uint32_t)i + 1)) job->is_damaged = 1;
    error = merged->out.error;
  }
  return error;
}

static void print_summary(const merge_job *job, const timeline *merged, size_t process_count) {
  char events[FORMAT_BYTES], bytes[FORMAT_BYTES];
  fprintf(stderr, "dftracer merge: wrote %s event%s of %zu %s to %s (%s)\n", format_count(events, merged->events),
          plural(merged->events), process_count, process_word(process_count), printable(job->output),
          format_bytes(bytes, (double)merged->out.bytes));
  if (merged->runs.count > 1)
    fprintf(stderr, "dftracer merge: these are traces of %u runs; 'dftracer info' shows which trace is of which run\n",
            merged->runs.count);
}

/* Returns 0 or an errno. */
static int write_timeline(merge_job *job, dft_reader *reader, const alignment *clocks, progress *shown) {
  char *facts = reader ? align_facts(clocks, reader) : NULL;
  timeline merged;
  int error = timeline_open(&merged, job->output, facts ? facts : "");
  free(facts);
  if (!error) {
    size_t process_count;
    if (job->sources.chrome_count) timeline_expect_fractions(&merged);
    error = add_all(&merged, job, reader, clocks, shown);
    process_count = merged.tracks.count;
    job->has_read = merged.lines > 0;
    if (timeline_close(&merged, !error)) error = merged.out.error;
    progress_end(shown);
    if (!error && merged.out.bytes && !job->is_quiet) print_summary(job, &merged, process_count);
    numbering_free(&merged.runs);
  }
  return error;
}

static void report_running(dft_reader *reader) {
  dft_source source = {.struct_size = sizeof source};
  uint32_t running = 0;
  for (uint32_t i = 0; dft_reader_source(reader, i, &source) == DFT_OK; i++)
    running += source.kind == DFT_SOURCE_SPOOL && dft_spool_is_alive(source.path) == 1;
  if (running)
    fprintf(stderr, "dftracer merge: %u %s still running: the file shows what happened until now\n", running,
            running == 1 ? "process is" : "processes are");
}

static int merge(merge_job *job) {
  dft_reader *reader = NULL;
  alignment clocks = {0};
  progress shown;
  int error = 0, is_aligned;
  uint64_t all = 0, done;
  if (job->sources.trace_count && !inputs_open(&job->sources, "merge", &reader)) return STATUS_FAILED;
  if (reader) dft_reader_progress(reader, &done, &all);
  if (reader) job->method = align_choose(reader, job->method);
  progress_begin(&shown, "merge", strcmp(job->method, "clock") == 0 ? all : 2 * all, 1);
  is_aligned = !reader || align_find(&clocks, reader, job->method, &shown);
  if (is_aligned) error = write_timeline(job, reader, &clocks, &shown);
  progress_end(&shown);
  if (reader && inputs_report(reader, "merge")) job->is_damaged = 1;
  if (reader && !error && !job->is_quiet) report_running(reader);
  if (reader && is_aligned && !error && !job->is_quiet) mpi_clocks_report(&clocks, reader);
  if (error) outfile_complain("merge", job->output, error);
  align_free(&clocks);
  dft_reader_close(reader);
  if (error || !is_aligned) return STATUS_FAILED;
  if (!job->is_damaged) return STATUS_DONE;
  return job->has_read ? STATUS_DAMAGED : STATUS_FAILED;
}

static int run_merge(int argc, char **argv) {
  arguments given = {.command = &command_merge, .argc = argc, .argv = argv};
  merge_job job = {.method = "auto"};
  int key, status;
  while ((key = arguments_next(&given)) > 0) {
    if (key == 'o') job.output = given.value;
    if (key == KEY_ALIGN) job.method = given.value;
    if (key == 'q') job.is_quiet = 1;
  }
  if (key < 0) return given.status;
  if (!given.count) return arguments_refuse(&given, "no trace given: PATH is missing");
  if (!job.output) return arguments_refuse(&given, "no output given: -o FILE is missing");
  if (ends_with(job.output, ".csv") || ends_with(job.output, ".h5"))
    return arguments_refuse(&given, "%s: merge writes Chrome's format only; use 'dftracer convert'", job.output);
  if (inputs_hold(argv + given.first, given.count, job.output))
    return arguments_refuse(&given, "%s is also an input and would be overwritten; choose another name", job.output);
  status = inputs_sort(&job.sources, "merge", argv + given.first, given.count) ? merge(&job) : STATUS_FAILED;
  inputs_free(&job.sources);
  return status;
}

const command command_merge = {
  .name = "merge",
  .arguments = "PATH... -o FILE",
  .summary = "merge many ranks and profilers into one timeline for Chrome and Perfetto",
  .text =
    "Writes the events of all PATHs to one file in Chrome's trace format. PATH is a trace (.pfw, .pfw.gz), a folder of "
    "traces, or a file in Chrome's format (.json, .json.gz), such as those of torch.profiler; - is stdin. Each process "
    "is a track "
    "of "
    "its own, named after its rank and node, even if two nodes used the same process id. Events of torch.profiler go "
    "to "
    "the track of the process that recorded them, beside the threads of dftracer.\n\n"
    "  dftracer merge traces torch-rank-*.json.gz -o job.json.gz\n"
    "  dftracer merge traces --align event:all_reduce -o job.json.gz\n\n"
    "Times are microseconds since the epoch; times that torch.profiler counts from its own start are converted. The "
    "member otherData of the file says how the clocks were aligned. Exit status 3: the inputs are damaged, or one is "
    "missing; the file contains the rest.\n",
  .options = options,
  .run = run_merge,
};
