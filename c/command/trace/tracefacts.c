/* tracefacts.c - what one trace says about the process that wrote it, and how much it holds.
 * SPDX-License-Identifier: MIT */
#include "tracefacts.h"

#include <ctype.h>
#include <dftracer/spool.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbering.h"
#include "standin.h"
#include "typedcommand.h"

static void copy(char *out, size_t room, dft_text text) {
  size_t len = text.len < room ? text.len : room - 1;
  memcpy(out, text.text, len);
  out[len] = '\0';
}

/* Copies a text, a number, or the text that a hash stands for. */
static void copy_cell(dft_reader *reader, char *out, size_t room, const dft_cell *cell) {
  char digits[24];
  dft_text text = {cell->value.text, cell->len}, meaning;
  if (cell->type == DFT_INT || cell->type == DFT_UINT) {
    text = (dft_text){digits, (size_t)snprintf(digits, sizeof digits, "%" PRIu64, cell->value.u)};
  } else if (cell->type != DFT_STRING) {
    return;
  }
  if (dft_reader_resolve(reader, text.text, text.len, &meaning) == DFT_OK) text = meaning;
  copy(out, room, text);
}

static void make_typed(trace_facts *facts) {
  char *typed = typed_command((dft_text){facts->command, strlen(facts->command)});
  if (typed) copy(facts->command, sizeof facts->command, (dft_text){typed, strlen(typed)});
  free(typed);
}

static void take_start_or_end(trace_facts *facts, dft_reader *reader, const dft_rows *rows, uint32_t row, int is_end) {
  const struct {
    const char *key;
    char *out;
    size_t room;
  } texts[] = {
    {"cmd_hash", facts->command, sizeof facts->command}, {"exec_hash", facts->executable, sizeof facts->executable},
    {"version", facts->version, sizeof facts->version},  {"date", facts->date, sizeof facts->date},
    {"cwd", facts->folder, sizeof facts->folder},        {"run", facts->run, sizeof facts->run}};
  facts->is_ended |= is_end;
  for (uint32_t i = rows->arg_first[row]; i < rows->arg_first[row + 1]; i++) {
    const dft_cell *cell = &rows->args[i];
    dft_text key = dft_reader_text(reader, DFT_KEYS, cell->key);
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
      if (strcmp(key.text, texts[k].key) == 0) copy_cell(reader, texts[k].out, texts[k].room, cell);
    }
    if (strcmp(key.text, "cmd_hash") == 0) make_typed(facts);
    if (is_end && strcmp(key.text, "recovered") == 0) facts->is_recovered = 1;
    if (is_end && strcmp(key.text, "num_dropped") == 0 && cell->type == DFT_INT) facts->dropped = cell->value.u;
  }
}

/* A line "PR" whose name is "rank". */
static void take_rank(trace_facts *facts, dft_reader *reader, const dft_rows *rows, uint32_t row) {
  char what[8] = "", value[16] = "";
  for (uint32_t i = rows->arg_first[row]; i < rows->arg_first[row + 1]; i++) {
    const dft_cell *cell = &rows->args[i];
    const char *key = dft_reader_text(reader, DFT_KEYS, cell->key).text;
    if (cell->type != DFT_STRING) continue;
    if (strcmp(key, "name") == 0) copy(what, sizeof what, (dft_text){cell->value.text, cell->len});
    if (strcmp(key, "value") == 0) copy(value, sizeof value, (dft_text){cell->value.text, cell->len});
  }
  if (strcmp(what, "rank") == 0 && isdigit((unsigned char)value[0])) facts->rank = atoi(value);
}

static void take_row(trace_facts *facts, numbering *threads, dft_reader *reader, const dft_rows *rows, uint32_t row) {
  int is_new;
  const char *name = dft_reader_text(reader, DFT_NAMES, rows->name[row]).text;
  if (rows->host[row]) facts->host = rows->host[row];
  facts->pid = rows->pid[row];
  if (rows->phase[row] == DFT_METADATA) {
    facts->metadata++;
    if (strcmp(name, "PR") == 0) take_rank(facts, reader, rows, row);
    return;
  }
  if (rows->phase[row] == DFT_COUNTER) facts->counters++;
  if (rows->phase[row] != DFT_COMPLETE) return;
  if (rows->start_ns[row] < facts->first) facts->first = rows->start_ns[row];
  if (rows->start_ns[row] + rows->dur_ns[row] > facts->last) facts->last = rows->start_ns[row] + rows->dur_ns[row];
  numbering_of(threads, rows->pid[row], rows->tid[row], &is_new);
  if ((strcmp(name, "start") == 0 || strcmp(name, "end") == 0) &&
      strcmp(dft_reader_text(reader, DFT_CATS, rows->cat[row]).text, "dftracer") == 0) {
    take_start_or_end(facts, reader, rows, row, name[0] == 'e');
  } else {
    facts->events++;
  }
}

static void take_input(trace_facts *facts) {
  const standin *from = standin_find(facts->source.path);
  facts->name = from ? from->name : facts->source.path;
  facts->bytes = from ? from->bytes : facts->source.bytes;
  facts->is_chrome = from && from->is_chrome;
  if (facts->is_chrome) facts->source.lines = facts->source.text_bytes = 0; /* those of the stand-in say nothing */
  facts->is_running = facts->source.kind == DFT_SOURCE_SPOOL && dft_spool_is_alive(facts->source.path) == 1;
}

int tracefacts_read(trace_facts *facts, dft_reader *reader, uint32_t source) {
  numbering threads = {.limit = 1u << 20};
  dft_cursor *cursor;
  const dft_rows *rows;
  dft_status status;
  memset(facts, 0, sizeof *facts);
  facts->rank = -1;
  facts->first = INT64_MAX;
  facts->last = INT64_MIN;
  status = dft_cursor_open(reader, source, &cursor);
  if (status != DFT_OK) return 0;
  while ((status = dft_cursor_next(cursor, &rows)) == DFT_OK && rows) {
    for (uint32_t i = 0; i < rows->count; i++) take_row(facts, &threads, reader, rows, i);
  }
  dft_cursor_close(cursor);
  facts->source.struct_size = sizeof facts->source;
  dft_reader_source(reader, source, &facts->source);
  take_input(facts);
  facts->threads = threads.count;
  numbering_free(&threads);
  if (facts->first > facts->last) facts->first = facts->last = 0;
  return status == DFT_OK;
}

int tracefacts_is_left(const trace_facts *facts) {
  return facts->source.kind == DFT_SOURCE_SPOOL && facts->is_recovered;
}

int tracefacts_is_refused(const trace_facts *facts) {
  return facts->source.kind == DFT_SOURCE_PLAIN && !facts->source.rows && facts->source.problems;
}
