/* lint_rows.c - the rules of what lines say: identity, times, nesting, hashes. One source, in its order.
 * SPDX-License-Identifier: MIT */
#include <dftracer/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "command/trace/coverage.h"
#include "command/trace/idset.h"
#include "command/trace/numbering.h"
#include "rules.h"

#define WINDOW 65536u
#define THREADS 65535u

enum { HOSTS, FILES, TEXTS, DEFINITIONS }; /* what HH, FH and SH lines defined */

typedef struct state {
  dft_reader *reader;
  findings *findings;
  idset ids;
  numbering threads;
  coverage *times; /* by thread */
  uint32_t time_capacity;
  coverage *now; /* the thread whose events are accounted for */
  uint64_t crossed;
  uint32_t *is_defined[DEFINITIONS]; /* by number: a check sum of the text; 0: it is not */
  uint32_t defined_capacity[DEFINITIONS];
  depth *depth;
  frame *frame;
  uint64_t pid;
  uint64_t lines_before; /* the unit at hand */
  uint32_t key_name, key_value, key_numbers[4];
  int is_good;
} state;

static uint32_t *defined(state *of, int which, uint32_t number) {
  if (number >= of->defined_capacity[which]) {
    uint32_t capacity = (number + 64) * 2;
    uint32_t *more = realloc(of->is_defined[which], capacity * sizeof *more);
    if (!more) {
      of->is_good = 0;
      return NULL;
    }
    memset(more + of->defined_capacity[which], 0, (capacity - of->defined_capacity[which]) * sizeof *more);
    of->is_defined[which] = more;
    of->defined_capacity[which] = capacity;
  }
  return &of->is_defined[which][number];
}

/* ---- Lines ---------------------------------------------------------------------------------------------------------- */

static void check_identity(state *of, const dft_rows *rows, uint32_t row, uint64_t number) {
  if (rows->id[row] && idset_add(&of->ids, rows->id[row]) == 1) found(of->findings, RULE_SAME_ID, number);
  if (!of->pid) of->pid = rows->pid[row];
  if (rows->pid[row] != of->pid) found(of->findings, RULE_PROCESSES, number);
}

static int is_hash(dft_text text) {
  return text.len == 16 && strspn(text.text, "0123456789abcdef") >= 16;
}

/* Of a column whose value may have been a text or a number: whether the line says it as a text. */
static int is_quoted(dft_text line, const char *key) {
  const char *at = memmem(line.text, line.len, key, strlen(key));
  return !at || at[strlen(key)] == '"';
}

static uint32_t sum_of(dft_text text) {
  return (uint32_t)crc32(1, (const Bytef *)text.text, (uInt)text.len) | 1;
}

static void define(state *of, const dft_rows *rows, uint32_t row, uint64_t number, char what, dft_text hash,
                   dft_text text) {
  int which = what == 'H' ? HOSTS : what == 'F' ? FILES : TEXTS;
  uint32_t known = dft_reader_number(of->reader, which == HOSTS ? DFT_HOSTS : DFT_FILES, hash.text, hash.len);
  uint32_t *sum = defined(of, which, known);
  if (!sum) return;
  if (*sum && *sum != sum_of(text)) found(of->findings, RULE_TWICE, number);
  *sum = sum_of(text);
  if (which == HOSTS && rows->host[row] != known) found(of->findings, RULE_HOST, number);
}

static void check_definition(state *of, const dft_rows *rows, uint32_t row, uint64_t number) {
  const char *name = dft_reader_text(of->reader, DFT_NAMES, rows->name[row]).text;
  int is_track = strcmp(name, "thread_name") == 0 || strcmp(name, "process_name") == 0;
  dft_text hash = {"", 0}, text = {"", 0};
  if (!is_track && strcmp(name, "HH") != 0 && strcmp(name, "FH") != 0 && strcmp(name, "SH") != 0) return;
  for (uint32_t i = rows->arg_first[row]; i < rows->arg_first[row + 1]; i++) {
    const dft_cell *cell = &rows->args[i];
    if (cell->type != DFT_STRING) continue;
    if (cell->key == of->key_name) text = (dft_text){cell->value.text, cell->len};
    if (cell->key == of->key_value) hash = (dft_text){cell->value.text, cell->len};
  }
  if (!text.len) found(of->findings, is_track ? RULE_TRACK_NAME : RULE_NO_NAME, number);
  if (is_track) return;
  if (!is_hash(hash)) found(of->findings, RULE_NUMBER_HASH, number);
  if (hash.len) define(of, rows, row, number, name[0], hash, text);
}

static int is_defined(state *of, int which, uint32_t number) {
  const uint32_t *sum = defined(of, which, number);
  return !sum || *sum;
}

static int is_bookkeeping(state *of, const dft_rows *rows, uint32_t row) {
  return strcmp(dft_reader_text(of->reader, DFT_CATS, rows->cat[row]).text, "dftracer") == 0;
}

/* Arguments that hold the hash of a text: those that are called so, and cwd of the event start. */
static int holds_hash(state *of, const dft_rows *rows, uint32_t row, const dft_cell *cell) {
  dft_text key = dft_reader_text(of->reader, DFT_KEYS, cell->key);
  if (key.len > 5 && memcmp(key.text + key.len - 5, "_hash", 5) == 0) return 1;
  return strcmp(key.text, "cwd") == 0 && is_bookkeeping(of, rows, row);
}

static void check_arguments(state *of, const dft_rows *rows, uint32_t row, uint64_t number) {
  for (uint32_t i = rows->arg_first[row]; i < rows->arg_first[row + 1]; i++) {
    const dft_cell *cell = &rows->args[i];
    dft_text text = {cell->value.text, cell->type == DFT_STRING ? cell->len : 0};
    int is_number = 0;
    for (size_t k = 0; k < sizeof of->key_numbers / sizeof of->key_numbers[0]; k++)
      is_number |= cell->key == of->key_numbers[k];
    if (is_number && cell->type != DFT_INT && cell->type != DFT_UINT && cell->type != DFT_BOOL &&
        (!text.len || strspn(text.text + (text.text[0] == '-'), "0123456789") < text.len - (text.text[0] == '-')))
      found(of->findings, RULE_NUMBER, number);
    if (!holds_hash(of, rows, row, cell)) continue;
    if (!is_hash(text)) found(of->findings, RULE_NUMBER_HASH, number);
    else {
      uint32_t known = dft_reader_number(of->reader, DFT_FILES, text.text, text.len);
      if (!is_defined(of, FILES, known) && !is_defined(of, TEXTS, known)) found(of->findings, RULE_FILE_HASH, number);
    }
  }
}

static void check_hashes(state *of, const dft_rows *rows, uint32_t row, uint64_t number) {
  dft_text line = rows->line[row];
  uint32_t host = rows->host[row], file = rows->file[row];
  if (!is_quoted(line, "\"hhash\":") || !is_quoted(line, "\"fhash\":") ||
      (host && !is_hash(dft_reader_hash(of->reader, DFT_HOSTS, host))) ||
      (file && !is_hash(dft_reader_hash(of->reader, DFT_FILES, file))))
    found(of->findings, RULE_NUMBER_HASH, number);
  if (!host && rows->phase[row] == 'X') found(of->findings, RULE_NO_HOST, number);
  if (host && !is_defined(of, HOSTS, host)) found(of->findings, RULE_HOST_HASH, number);
  if (file && !is_defined(of, FILES, file)) found(of->findings, RULE_FILE_HASH, number);
}

/* ---- Times ---------------------------------------------------------------------------------------------------------- */

static void crossed(void *context, const moment *event, int64_t self) {
  state *of = context;
  (void)self;
  /* Not judged behind an event far from its place, and with more gaps than are kept. */
  if (of->now->crossed != of->crossed && !of->now->late && !of->now->compacted)
    found(of->findings, RULE_OVERLAP, (uint64_t)event->offset);
  of->crossed = of->now->crossed;
}

static void check_nesting(state *of, const dft_rows *rows, uint32_t row, uint64_t number) {
  int is_new;
  uint32_t thread = numbering_of(&of->threads, rows->pid[row], rows->tid[row], &is_new);
  moment event = {.start = rows->start_ns[row],
                  .end = rows->start_ns[row] + rows->dur_ns[row],
                  .parent = rows->parent[row],
                  .level = rows->level[row] > UINT16_MAX ? UINT16_MAX : (uint16_t)rows->level[row],
                  .offset = (int64_t)number};
  if (thread >= of->time_capacity) {
    uint32_t capacity = (thread + 8) * 2;
    coverage *more = realloc(of->times, capacity * sizeof *more);
    if (!more) {
      of->is_good = 0;
      return;
    }
    memset(more + of->time_capacity, 0, (capacity - of->time_capacity) * sizeof *more);
    of->times = more;
    of->time_capacity = capacity;
  }
  of->now = &of->times[thread];
  of->crossed = of->now->crossed;
  of->is_good &= coverage_add(of->now, &event, WINDOW / (of->threads.count + 1) + 512, crossed, of);
}

static void check_times(state *of, const dft_rows *rows, uint32_t row, uint64_t number) {
  int64_t start = rows->start_ns[row], parent = rows->parent[row];
  uint32_t level = rows->level[row];
  if (start < 1000000000000000000 || start > 9000000000000000000) found(of->findings, RULE_EPOCH, number);
  if (rows->phase[row] != 'X' || rows->dur_ns[row] < 0) return;
  if ((level != 0) != (parent != 0) || (level == 1) != (parent == -1) || (!level && !is_bookkeeping(of, rows, row)))
    found(of->findings, RULE_LEVEL, number);
  depth_add(of->depth, rows, row, number);
  check_nesting(of, rows, row, number);
}

/* ---- A source ------------------------------------------------------------------------------------------------------- */

static void check_rows(state *of, const dft_rows *rows) {
  for (uint32_t i = 0; i < rows->count; i++) {
    uint64_t number = of->lines_before + rows->line_in_unit[i] + 1;
    check_identity(of, rows, i, number);
    frame_add(of->frame, rows, i, number);
    if (rows->phase[i] == 'M') check_definition(of, rows, i, number);
    else check_times(of, rows, i, number);
    check_hashes(of, rows, i, number);
    if (rows->phase[i] != 'M') check_arguments(of, rows, i, number);
  }
}

static void free_state(state *of) {
  idset_free(&of->ids);
  for (uint32_t i = 0; i < of->time_capacity; i++) coverage_free(&of->times[i]);
  free(of->times);
  for (int i = 0; i < DEFINITIONS; i++) free(of->is_defined[i]);
  numbering_free(&of->threads);
  free(of);
}

static int read_all(state *of, uint32_t source) {
  dft_source facts = {.struct_size = sizeof facts};
  dft_cursor *cursor;
  const dft_rows *rows;
  dft_status status;
  if (dft_cursor_open(of->reader, source, &cursor) != DFT_OK) return 0;
  while ((status = dft_cursor_next(cursor, &rows)) == DFT_OK && rows && of->is_good) {
    check_rows(of, rows);
    if (rows->is_unit_end && dft_reader_source(of->reader, source, &facts) == DFT_OK) of->lines_before = facts.lines;
  }
  dft_cursor_close(cursor);
  return status == DFT_OK;
}

int lint_rows(dft_reader *reader, uint32_t source, findings *all) {
  static const char *const numbers[] = {"step", "image_idx", "ret", "size_sum"};
  state *of = calloc(1, sizeof *of);
  int is_good;
  if (!of) return 0;
  of->reader = reader;
  of->findings = all;
  of->is_good = 1;
  of->threads.limit = THREADS;
  of->key_name = dft_reader_number(reader, DFT_KEYS, "name", 4);
  of->key_value = dft_reader_number(reader, DFT_KEYS, "value", 5);
  for (int i = 0; i < 4; i++) of->key_numbers[i] = dft_reader_number(reader, DFT_KEYS, numbers[i], strlen(numbers[i]));
  of->depth = depth_new(all);
  of->frame = frame_new(reader, all);
  of->is_good = of->depth && of->frame && read_all(of, source) && of->is_good;
  for (uint32_t i = 0; i < of->time_capacity; i++) {
    of->now = &of->times[i];
    of->crossed = of->now->crossed;
    of->is_good &= coverage_flush(of->now, crossed, of);
  }
  depth_end(of->depth);
  frame_end(of->frame);
  is_good = of->is_good;
  free_state(of);
  return is_good;
}
