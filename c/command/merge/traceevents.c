/* traceevents.c - the events of dftracer's own traces in a timeline. Hashes of files and texts are resolved.
 * SPDX-License-Identifier: MIT */
#include "traceevents.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "command/trace/eventrule.h"
#include "command/trace/rowargs.h"

typedef struct row_writer {
  timeline *merged;
  dft_reader *reader;
  const alignment *clocks; /* NULL: no clock is moved */
  /* The process of the previous row; most rows have the same. */
  uint32_t last_source, last_host;
  uint64_t last_pid;
  size_t last_process;
  uint32_t source_host; /* of the current source, for rows that name none */
  int64_t quantum_ns;   /* times of the current source are multiples of this: 1 or 1000 */
} row_writer;

/* ---- Processes -------------------------------------------------------------------------------------------------------- */

static track_process *find_process(row_writer *writer, const dft_rows *rows, uint32_t row) {
  track_list *tracks = &writer->merged->tracks;
  uint32_t host = rows->host[row];
  track_process *process;
  dft_text name;
  char key[320];
  int len;
  if (rows->source != writer->last_source) writer->source_host = 0;
  if (host) writer->source_host = host;
  else host = writer->source_host;
  if (tracks->count && rows->source == writer->last_source && host == writer->last_host &&
      rows->pid[row] == writer->last_pid) {
    return &tracks->list[writer->last_process];
  }
  name = dft_reader_text(writer->reader, DFT_HOSTS, host);
  len = snprintf(key, sizeof key, "%.*s/%llu", (int)(name.len < 256 ? name.len : 256), name.text,
                 (unsigned long long)rows->pid[row]);
  process = tracks_process(tracks, key, (size_t)len, rows->pid[row], 0);
  if (!process) return NULL;
  if (!process->host && name.len) process->host = strndup(name.text, name.len);
  if (writer->clocks && host < writer->clocks->count) process->clock = writer->clocks->nodes[host];
  writer->last_source = rows->source;
  writer->last_host = host;
  writer->last_pid = rows->pid[row];
  writer->last_process = (size_t)(process - tracks->list);
  return process;
}

static int is_text(dft_text text, const char *other) {
  return text.len == strlen(other) && memcmp(text.text, other, text.len) == 0;
}

/* The text of an argument; empty when there is none. */
static dft_text find_argument(dft_reader *reader, const dft_rows *rows, uint32_t row, const char *key) {
  for (uint32_t i = rows->arg_first[row]; i < rows->arg_first[row + 1]; i++) {
    const dft_cell *cell = &rows->args[i];
    if (cell->type == DFT_STRING && is_text(dft_reader_text(reader, DFT_KEYS, cell->key), key))
      return (dft_text){cell->value.text, cell->len};
  }
  return (dft_text){"", 0};
}

/* "Rank 3" and the process id say nothing new, so they are not kept. */
static void keep_main_name(track_process *process, dft_text name) {
  char number[24];
  snprintf(number, sizeof number, "%llu", (unsigned long long)process->pid);
  if (!name.len || (name.len > 5 && memcmp(name.text, "Rank ", 5) == 0) || is_text(name, number)) return;
  free(process->main_name);
  process->main_name = strndup(name.text, name.len);
}

/* Keeps what is known about the process for the end of the file. Nonzero: the row itself is not written. */
static int take_metadata(track_process *process, dft_reader *reader, const dft_rows *rows, uint32_t row) {
  dft_text kind = dft_reader_text(reader, DFT_NAMES, rows->name[row]);
  dft_text name = find_argument(reader, rows, row, "name");
  if (is_text(kind, "process_name")) {
    free(process->name);
    process->name = strndup(name.text, name.len);
    return 1;
  }
  if (is_text(kind, "thread_name") && rows->tid[row] == process->pid) keep_main_name(process, name);
  if (is_text(kind, "PR") && is_text(name, "rank")) {
    dft_text value = find_argument(reader, rows, row, "value");
    char number[16];
    snprintf(number, sizeof number, "%.*s", (int)(value.len < 15 ? value.len : 15), value.text);
    process->rank = atoi(number);
  }
  return is_text(kind, "HH") || is_text(kind, "FH") || is_text(kind, "SH");
}

/* The event `start` has the id of the run. */
static void take_run(timeline *merged, dft_reader *reader, const dft_rows *rows, uint32_t row) {
  dft_text run = find_argument(reader, rows, row, "run");
  int is_new;
  if (run.len) numbering_of(&merged->runs, dft_reader_number(reader, DFT_NAMES, run.text, run.len), 0, &is_new);
}

/* ---- Rows ----------------------------------------------------------------------------------------------------------- */

static int64_t remainder_of(int64_t ns, int64_t quantum_ns) {
  int64_t rest = ns % quantum_ns;
  return rest < 0 ? rest + quantum_ns : rest;
}

/* When the row is on the timeline. Where a clock drifts, both ends are rounded, so that events of a thread still nest. */
static void put_times(row_writer *writer, const node_clock *clock, const dft_rows *rows, uint32_t row) {
  outfile *out = &writer->merged->out;
  int64_t start = node_clock_apply(clock, rows->start_ns[row]);
  int64_t dur = rows->dur_ns[row];
  if (clock->drift != 0) {
    int64_t end = node_clock_apply(clock, rows->start_ns[row] + dur);
    start -= remainder_of(start, writer->quantum_ns);
    dur = end - remainder_of(end, writer->quantum_ns) - start;
  }
  outfile_text(out, ",\"ts\":");
  timeline_put_time(writer->merged, start);
  if (rows->phase[row] != DFT_COMPLETE) return;
  outfile_text(out, ",\"dur\":");
  outfile_us(out, dur);
}

static int add_row(row_writer *writer, const dft_rows *rows, uint32_t row) {
  outfile *out = &writer->merged->out;
  track_process *process = find_process(writer, rows, row);
  char phase = (char)rows->phase[row];
  uint32_t tid;
  int is_new;
  if (!process) return ENOMEM;
  if (rows->phase[row] == DFT_METADATA && take_metadata(process, writer->reader, rows, row)) return 0;
  tid = tracks_thread(process, rows->tid[row], 0, &is_new);
  timeline_begin_line(writer->merged, "{\"name\":");
  outfile_quoted(out, dft_reader_text(writer->reader, DFT_NAMES, rows->name[row]));
  outfile_text(out, ",\"cat\":");
  outfile_quoted(out, dft_reader_text(writer->reader, DFT_CATS, rows->cat[row]));
  if (phase == DFT_COMPLETE) {
    outfile_text(out, ",\"ph\":\"X\",\"pid\":");
  } else {
    outfile_text(out, ",\"ph\":");
    outfile_quoted(out, (dft_text){&phase, 1});
    outfile_text(out, ",\"pid\":");
  }
  outfile_int(out, process->shown);
  outfile_text(out, ",\"tid\":");
  outfile_int(out, tid);
  if (rows->phase[row] != DFT_METADATA) put_times(writer, &process->clock, rows, row);
  outfile_text(out, ",\"args\":");
  rowargs_put(out, writer->reader, rows, row, 1);
  outfile_text(out, "}");
  return out->error;
}

int traceevents_add(timeline *merged, dft_reader *reader, const alignment *clocks, progress *shown) {
  row_writer writer = {.merged = merged, .reader = reader, .clocks = clocks, .last_pid = UINT64_MAX};
  dft_source source = {.struct_size = sizeof source};
  event_rule rule = event_rule_for(reader);
  uint64_t done = 0, before = 0, all;
  const dft_rows *rows;
  dft_cursor *cursor;
  int error = 0;
  if (dft_cursor_open(reader, DFT_ALL, &cursor) != DFT_OK) return ENOMEM;
  while (!error) {
    if (dft_cursor_next(cursor, &rows) != DFT_OK) error = ENOMEM;
    if (error || !rows) break;
    writer.quantum_ns = dft_reader_source(reader, rows->source, &source) == DFT_OK && source.unit_ns < 1000 ? 1 : 1000;
    if (!merged->has_base && writer.quantum_ns == 1) timeline_expect_fractions(merged);
    for (uint32_t row = 0; row < rows->count && !error; row++) {
      error = add_row(&writer, rows, row);
      if (is_event(&rule, rows, row)) merged->events++;
      else if (rows->phase[row] == DFT_COMPLETE) take_run(merged, reader, rows, row);
    }
    dft_reader_progress(reader, &done, &all);
    progress_add(shown, done - before);
    before = done;
  }
  dft_cursor_close(cursor);
  return error;
}
