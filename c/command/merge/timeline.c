/* timeline.c - rows of dftracer traces in Chrome's format.
 * SPDX-License-Identifier: MIT */
#include "timeline.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "codec/number.h"
#include "command/trace/counted.h"
#include "timeline_parts.h"

#define DAY_NS (INT64_C(86400) * 1000000000)

void timeline_begin_line(timeline *of, const char *start) {
  outfile_text(&of->out, of->lines++ ? ",\n" : "\n");
  outfile_text(&of->out, start);
}

void timeline_expect_fractions(timeline *of) {
  of->is_fine_grained = 1;
}

void timeline_put_time(timeline *of, int64_t ns) {
  if (!of->has_base) {
    of->has_base = 1;
    if (of->is_fine_grained && ns > 2 * DAY_NS) of->base_ns = (ns / DAY_NS - 1) * DAY_NS;
  }
  outfile_us(&of->out, ns - of->base_ns);
}

int timeline_open(timeline *of, const char *path, const char *facts) {
  int error;
  memset(of, 0, sizeof *of);
  of->last_pid = UINT64_MAX;
  error = outfile_open(&of->out, path);
  if (error) return error;
  outfile_text(&of->out, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"merged_by\":\"dftracer " DFT_VERSION "\"");
  outfile_text(&of->out, facts);
  outfile_text(&of->out, "},\"traceEvents\":[");
  return 0;
}

/* ---- Rows ----------------------------------------------------------------------------------------------------------- */

static track_process *process_of(timeline *of, dft_reader *reader, const dft_rows *rows, uint32_t i) {
  uint32_t host = rows->host[i];
  track_process *process;
  dft_text name;
  char key[320];
  int len;
  if (rows->source != of->last_source) of->source_host = 0;
  if (host) of->source_host = host;
  else host = of->source_host;
  if (of->tracks.count && rows->source == of->last_source && host == of->last_host && rows->pid[i] == of->last_pid) {
    return &of->tracks.list[of->last_process];
  }
  name = dft_reader_text(reader, DFT_HOSTS, host);
  len = snprintf(key, sizeof key, "%.*s/%llu", (int)(name.len < 256 ? name.len : 256), name.text,
                 (unsigned long long)rows->pid[i]);
  process = tracks_process(&of->tracks, key, (size_t)len, rows->pid[i], 0);
  if (!process) return NULL;
  if (!process->host && name.len) process->host = strndup(name.text, name.len);
  if (host < of->shift_count) process->shift_ns = of->shift_ns[host];
  of->last_source = rows->source;
  of->last_host = host;
  of->last_pid = rows->pid[i];
  of->last_process = (size_t)(process - of->tracks.list);
  return process;
}

static void put_value(outfile *out, const dft_cell *cell) {
  char number[DFT__NUMBER_ROOM];
  switch (cell->type) {
    case DFT_INT: outfile_int(out, cell->value.i); break;
    case DFT_UINT: outfile_put(out, number, (size_t)(dft__number_uint(number, cell->value.u) - number)); break;
    case DFT_BOOL: outfile_text(out, cell->value.i ? "true" : "false"); break;
    case DFT_DOUBLE:
      if (isfinite(cell->value.d))
        outfile_put(out, number, (size_t)(dft__number_double(number, cell->value.d) - number));
      else outfile_text(out, "null");
      break;
    case DFT_STRING:
      outfile_text(out, "\"");
      outfile_escaped(out, cell->value.text, cell->len);
      outfile_text(out, "\"");
      break;
    default: outfile_put(out, cell->value.text, cell->len);
  }
}

static void put_named(outfile *out, const char *before, dft_text text) {
  outfile_text(out, before);
  outfile_escaped(out, text.text, text.len);
  outfile_text(out, "\"");
}

/* An argument that is the hash of a text becomes that text, under another name; zero when it is none, or not defined. */
static int put_resolved(outfile *out, dft_reader *reader, dft_text key, const dft_cell *cell) {
  static const struct {
    dft_text key;
    const char *shown;
  } hashes[] = {{{"path2_hash", 10}, "\"file2\":\""},
                {{"cmd_hash", 8}, "\"command\":\""},
                {{"exec_hash", 9}, "\"executable\":\""},
                {{"cwd", 3}, "\"cwd\":\""}};
  dft_text meaning;
  for (size_t i = 0; i < sizeof hashes / sizeof hashes[0]; i++) {
    if (key.len != hashes[i].key.len || memcmp(key.text, hashes[i].key.text, key.len) != 0) continue;
    if (cell->type != DFT_STRING || dft_reader_resolve(reader, cell->value.text, cell->len, &meaning) != DFT_OK)
      return 0;
    put_named(out, hashes[i].shown, meaning);
    return 1;
  }
  return 0;
}

void timeline_put_args(outfile *out, dft_reader *reader, const dft_rows *rows, uint32_t i, int with_file) {
  const char *comma = "";
  outfile_text(out, "{");
  if (with_file && rows->file[i]) {
    put_named(out, "\"file\":\"", dft_reader_text(reader, DFT_FILES, rows->file[i]));
    comma = ",";
  }
  for (uint32_t at = rows->arg_first[i]; at < rows->arg_first[i + 1]; at++) {
    dft_text key = dft_reader_text(reader, DFT_KEYS, rows->args[at].key);
    outfile_text(out, comma);
    comma = ",";
    if (put_resolved(out, reader, key, &rows->args[at])) continue;
    put_named(out, "\"", key);
    outfile_text(out, ":");
    put_value(out, &rows->args[at]);
  }
  outfile_text(out, "}");
}

/* The text of an argument; empty when there is none. */
static dft_text argument(dft_reader *reader, const dft_rows *rows, uint32_t i, const char *key) {
  dft_text none = {"", 0};
  for (uint32_t at = rows->arg_first[i]; at < rows->arg_first[i + 1]; at++) {
    dft_text name = dft_reader_text(reader, DFT_KEYS, rows->args[at].key);
    if (rows->args[at].type != DFT_STRING || name.len != strlen(key) || memcmp(name.text, key, name.len) != 0) continue;
    none.text = rows->args[at].value.text;
    none.len = rows->args[at].len;
    break;
  }
  return none;
}

static int is_text(dft_text text, const char *other) {
  return text.len == strlen(other) && memcmp(text.text, other, text.len) == 0;
}

/* Others than "Rank 3" and the process's number, which say nothing new. */
static void keep_main_name(track_process *process, dft_text name) {
  char number[24];
  int len = snprintf(number, sizeof number, "%llu", (unsigned long long)process->pid);
  if ((name.len > 5 && memcmp(name.text, "Rank ", 5) == 0) || !name.len ||
      (name.len == (size_t)len && memcmp(name.text, number, name.len) == 0))
    return;
  free(process->main_name);
  process->main_name = strndup(name.text, name.len);
}

/* Metadata of the process is kept for the end; nonzero: the row is not to be written. */
static int take_metadata(track_process *process, dft_reader *reader, const dft_rows *rows, uint32_t i, dft_text kind) {
  dft_text name = argument(reader, rows, i, "name");
  if (is_text(kind, "process_name")) {
    free(process->name);
    process->name = strndup(name.text, name.len);
    return 1;
  }
  if (is_text(kind, "thread_name") && rows->tid[i] == process->pid) keep_main_name(process, name);
  if (is_text(kind, "PR") && is_text(name, "rank")) {
    dft_text value = argument(reader, rows, i, "value");
    char number[16];
    snprintf(number, sizeof number, "%.*s", (int)(value.len < 15 ? value.len : 15), value.text);
    process->rank = atoi(number);
  }
  return is_text(kind, "HH") || is_text(kind, "FH") || is_text(kind, "SH");
}

static int add_row(timeline *of, dft_reader *reader, const dft_rows *rows, uint32_t i) {
  track_process *process = process_of(of, reader, rows, i);
  dft_text name = dft_reader_text(reader, DFT_NAMES, rows->name[i]);
  char phase[] = ",\"ph\":\"X\",\"pid\":";
  int is_new;
  uint32_t tid;
  if (!process) return ENOMEM;
  if (rows->phase[i] == 'M' && take_metadata(process, reader, rows, i, name)) return 0;
  tid = tracks_thread(process, rows->tid[i], 0, &is_new);
  timeline_begin_line(of, "{");
  put_named(&of->out, "\"name\":\"", name);
  put_named(&of->out, ",\"cat\":\"", dft_reader_text(reader, DFT_CATS, rows->cat[i]));
  phase[7] = (char)rows->phase[i];
  outfile_text(&of->out, phase);
  outfile_int(&of->out, process->shown);
  outfile_text(&of->out, ",\"tid\":");
  outfile_int(&of->out, tid);
  if (rows->phase[i] != 'M') {
    outfile_text(&of->out, ",\"ts\":");
    timeline_put_time(of, rows->start_ns[i] + process->shift_ns);
  }
  if (rows->phase[i] == 'X') {
    outfile_text(&of->out, ",\"dur\":");
    outfile_us(&of->out, rows->dur_ns[i]);
  }
  outfile_text(&of->out, ",\"args\":");
  timeline_put_args(&of->out, reader, rows, i, 1);
  outfile_text(&of->out, "}");
  return of->out.error;
}

int timeline_add_reader(timeline *of, dft_reader *reader, progress *shown) {
  dft_cursor *cursor;
  const dft_rows *rows;
  dft_source source = {.struct_size = sizeof source};
  bookkeeping ours = bookkeeping_of(reader);
  uint64_t done = 0, before = 0, all;
  int error = 0;
  if (dft_cursor_open(reader, DFT_ALL, &cursor) != DFT_OK) return ENOMEM;
  while (!error) {
    if (dft_cursor_next(cursor, &rows) != DFT_OK) error = ENOMEM;
    if (error || !rows) break;
    if (!of->has_base && dft_reader_source(reader, rows->source, &source) == DFT_OK && source.unit_ns < 1000) {
      timeline_expect_fractions(of);
    }
    for (uint32_t i = 0; i < rows->count && !error; i++) {
      error = add_row(of, reader, rows, i);
      of->events += (uint64_t)is_event(&ours, rows, i);
    }
    dft_reader_progress(reader, &done, &all);
    progress_add(shown, done - before);
    before = done;
  }
  dft_cursor_close(cursor);
  return error;
}

/* ---- The end -------------------------------------------------------------------------------------------------------- */

static int has_several_hosts(const tracks *of) {
  const char *first = NULL;
  for (size_t i = 0; i < of->count; i++) {
    if (!of->list[i].host) continue;
    if (first && strcmp(first, of->list[i].host) != 0) return 1;
    first = of->list[i].host;
  }
  return 0;
}

/* "Rank 3 (node17)", "Rank 3, DataLoader worker 1", which comes behind the rank itself; guests that belong to no process of ours have named themselves. */
static void put_process(timeline *of, const track_process *process, int with_host) {
  char name[256];
  if (process->is_guest) return;
  if (process->rank >= 0 && !process->name) snprintf(name, sizeof name, "Rank %d", process->rank);
  else if (process->name) snprintf(name, sizeof name, "%s", process->name);
  else snprintf(name, sizeof name, "process %llu", (unsigned long long)process->pid);
  timeline_begin_line(of, "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":");
  outfile_int(&of->out, process->shown);
  outfile_text(&of->out, ",\"args\":{\"name\":\"");
  outfile_escaped(&of->out, name, strlen(name));
  if (process->main_name) {
    outfile_text(&of->out, ", ");
    outfile_escaped(&of->out, process->main_name, strlen(process->main_name));
  }
  if (with_host && process->host) {
    outfile_text(&of->out, " (");
    outfile_escaped(&of->out, process->host, strlen(process->host));
    outfile_text(&of->out, ")");
  }
  outfile_text(&of->out, "\"}}");
  if (process->rank < 0) return;
  timeline_begin_line(of, "{\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":");
  outfile_int(&of->out, process->shown);
  outfile_text(&of->out, ",\"args\":{\"sort_index\":");
  outfile_int(&of->out, 2 * (int64_t)process->rank + (process->main_name != NULL));
  outfile_text(&of->out, "}}");
}

int timeline_close(timeline *of, int is_complete) {
  int error;
  if (is_complete) {
    int with_host = has_several_hosts(&of->tracks);
    for (size_t i = 0; i < of->tracks.count; i++) put_process(of, &of->tracks.list[i], with_host);
    outfile_text(&of->out, "\n],\"baseTimeNanoseconds\":");
    outfile_int(&of->out, of->base_ns);
    outfile_text(&of->out, "}\n");
  }
  error = outfile_close(&of->out, is_complete);
  tracks_free(&of->tracks);
  return error;
}
