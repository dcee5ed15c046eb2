/* merge.c - dftracer merge: many traces, those of torch.profiler among them, as one timeline.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "align.h"
#include "command/cli/arguments.h"
#include "command/cli/terminal.h"
#include "command/trace/inputs.h"
#include "command/trace/suffix.h"
#include "timeline.h"

enum { KEY_ALIGN = OPTION_LONG + 1 };

static const option options[] = {
  {'o', "output", "FILE", "where the timeline goes; .json, or .json.gz for compressed; -: stdout"},
  {KEY_ALIGN, "align", "clock|start|event:NAME",
   "how the clocks of nodes are made to agree: clock (default) takes them as they are; start lets the first events of "
   "all "
   "nodes coincide; event:NAME lets the ends of events of that name coincide, such as of a barrier"},
  {'q', "quiet", NULL, "no line at the end"},
  {0, NULL, NULL, NULL},
};

const command command_merge;

static int add_all(timeline *to, inputs *from, dft_reader *reader, progress *shown, int *failed) {
  int error = reader ? timeline_add_reader(to, reader, shown) : 0;
  for (size_t i = 0; i < from->chrome_count && !error; i++) {
    if (!timeline_add_guest(to, "merge", from->chrome[i], (uint32_t)i + 1)) *failed = 1;
    error = to->out.error;
  }
  return error;
}

static int merge(inputs *from, const char *output, const char *method, int is_quiet) {
  dft_reader *reader = NULL;
  alignment clocks = {NULL, 0};
  timeline to;
  progress shown;
  char events[FORMAT_BYTES], bytes[FORMAT_BYTES];
  char *facts = NULL;
  int failed = 0, error = 0;
  uint32_t processes = 0;
  uint64_t written = 0, all = 0, done;
  if (from->trace_count && !inputs_open(from, "merge", &reader)) return STATUS_FAILED;
  if (reader) dft_reader_progress(reader, &done, &all);
  progress_begin(&shown, "merge", strcmp(method, "clock") == 0 ? all : 2 * all, 1);
  if (reader && !align_find(&clocks, reader, method, &shown)) failed = 1;
  if (reader && !failed) facts = align_facts(&clocks, reader, method);
  if (!failed) error = timeline_open(&to, output, facts ? facts : "");
  if (!failed && !error) {
    to.shift_ns = clocks.shift_ns;
    to.shift_count = clocks.count;
    if (from->chrome_count) timeline_expect_fractions(&to);
    error = add_all(&to, from, reader, &shown, &failed);
    processes = (uint32_t)to.tracks.count;
    error = timeline_close(&to, !error) ? to.out.error : error;
    written = to.out.bytes;
  }
  progress_end(&shown);
  if (reader && inputs_report(reader, "merge")) failed = 1;
  if (error) outfile_complain("merge", output, error);
  else if (written && !is_quiet) {
    fprintf(stderr, "dftracer merge: %s event%s of %u process%s %s in %s (%s)\n", format_count(events, to.events),
            plural(to.events), processes, processes == 1 ? "" : "es", to.events == 1 ? "is" : "are", output,
            format_bytes(bytes, (double)written));
  }
  free(facts);
  align_free(&clocks);
  dft_reader_close(reader);
  return error || failed ? STATUS_FAILED : STATUS_DONE;
}

static int run_merge(int argc, char **argv) {
  arguments given = {.command = &command_merge, .argc = argc, .argv = argv};
  const char *output = NULL;
  const char *method = "clock";
  inputs from;
  int is_quiet = 0;
  int key;
  while ((key = arguments_next(&given)) > 0) {
    if (key == 'o') output = given.value;
    if (key == KEY_ALIGN) method = given.value;
    if (key == 'q') is_quiet = 1;
  }
  if (key < 0) return given.status;
  if (!given.count) return arguments_refuse(&given, "what? PATH is missing");
  if (!output) return arguments_refuse(&given, "where to? -o FILE is missing");
  if (ends_with(output, ".csv") || ends_with(output, ".h5"))
    return arguments_refuse(&given, "%s: merge writes Chrome's format; see dftracer convert", output);
  if (inputs_hold(argv + given.first, given.count, output))
    return arguments_refuse(&given, "%s would be read and replaced; choose another name", output);
  if (!inputs_sort(&from, argv + given.first, given.count)) return arguments_refuse(&given, "no memory left");
  key = merge(&from, output, method, is_quiet);
  inputs_free(&from);
  return key;
}

const command command_merge = {
  .name = "merge",
  .arguments = "PATH... -o FILE",
  .summary = "one timeline of many ranks and profilers, for Chrome and Perfetto",
  .text = "Writes the events of all PATHs into one file in Chrome's trace format. PATH is a trace (.pfw, .pfw.gz), a "
          "folder of "
          "traces, or a file of torch.profiler or another program that writes Chrome's format (.json, .json.gz). Each "
          "process is a "
          "track of its own, named after its rank and node, also when two nodes used the same process id. What "
          "torch.profiler "
          "recorded goes to the track of the process it was recorded in, beside the threads of dftracer.\n\n"
          "  dftracer merge traces torch-rank-*.json.gz -o job.json.gz\n"
          "  dftracer merge traces --align event:all_reduce -o job.json.gz\n\n"
          "Times are microseconds since the epoch; times that torch.profiler counts from its own start are put there. "
          "What was "
          "done to the clocks of the nodes stands in otherData of the file. Exit status: 1 when an input could not be "
          "read; what "
          "could be is in the file.\n",
  .options = options,
  .run = run_merge,
};
