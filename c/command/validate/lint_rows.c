/* lint_rows.c - the rules of what lines say. Reads one source, in the order of its file.
 * SPDX-License-Identifier: MIT */
#include "lint_rows.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "command/trace/coverage.h"
#include "command/trace/idset.h"
#include "command/trace/numbering.h"
#include "lint_depth.h"
#include "lint_frame.h"

#define WINDOW 65536u /* events that all threads hold back together */
#define WINDOW_LEAST 512u
#define THREADS 65535u
#define EPOCH_FIRST_NS 1000000000000000000 /* times since the epoch are between these two: 2001 and 2112 */
#define EPOCH_LAST_NS 4500000000000000000

enum { HOSTS, FILES, TEXTS, DEFINITIONS }; /* what HH, FH and SH lines defined */

typedef struct row_check {
  dft_reader *reader;
  findings *found;
  idset ids;
  numbering threads;
  coverage *times; /* by thread */
  uint32_t time_capacity;
  coverage *now;                     /* the thread whose events coverage reports now */
  uint64_t crossed;                  /* of that thread, before the event */
  uint32_t *is_defined[DEFINITIONS]; /* by number: a checksum of the text; 0: it is not defined */
  uint32_t defined_capacity[DEFINITIONS];
  depth_check *depth;
  frame_check *frame;
  uint64_t pid;          /* of the first row */
  uint64_t lines_before; /* in the units before */
  uint32_t key_name, key_value, key_numbers[4];
  int is_good;
} row_check;

static uint32_t *defined(row_check *check, int which, uint32_t number) {
  if (number >= check->defined_capacity[which]) {
    uint32_t capacity = (number + 64) * 2;
    uint32_t *more = realloc(check->is_defined[which], capacity * sizeof *more);
    if (!more) {
      check->is_good = 0;
      return NULL;
    }
    memset(more + check->defined_capacity[which], 0, (capacity - check->defined_capacity[which]) * sizeof *more);
    check->is_defined[which] = more;
    check->defined_capacity[which] = capacity;
  }
  return &check->is_defined[which][number];
}

/* ---- Lines ---------------------------------------------------------------------------------------------------------- */

static void check_identity(row_check *check, const dft_rows *rows, uint32_t row, uint64_t number) {
  if (rows->id[row] && idset_add(&check->ids, rows->id[row]) == 1) findings_add(check->found, RULE_SAME_ID, number);
  if (!check->pid) check->pid = rows->pid[row];
  if (rows->pid[row] != check->pid) findings_add(check->found, RULE_PROCESSES, number);
}

static int is_hash(dft_text text) {
  return text.len == 16 && strspn(text.text, "0123456789abcdef") >= 16;
}

/* Whether the line has this value as a string. The column does not tell: it takes strings and numbers. */
static int is_quoted(dft_text line, const char *key) {
  const char *at = memmem(line.text, line.len, key, strlen(key));
  return !at || at[strlen(key)] == '"';
}

static uint32_t sum_of(dft_text text) {
  return (uint32_t)crc32(1, (const Bytef *)text.text, (uInt)text.len) | 1;
}

static void define(row_check *check, const dft_rows *rows, uint32_t row, uint64_t number, char what, dft_text hash,
                   dft_text text) {
  int which = what == 'H' ? HOSTS : what == 'F' ? FILES : TEXTS;
  uint32_t known = dft_reader_number(check->reader, which == HOSTS ? DFT_HOSTS : DFT_FILES, hash.text, hash.len);
  uint32_t *sum = defined(check, which, known);
  if (!sum) return;
  if (*sum && *sum != sum_of(text)) findings_add(check->found, RULE_TWICE, number);
  *sum = sum_of(text);
  if (which == HOSTS && rows->host[row] != known) findings_add(check->found, RULE_HOST, number);
}

static void check_definition(row_check *check, const dft_rows *rows, uint32_t row, uint64_t number) {
  const char *name = dft_reader_text(check->reader, DFT_NAMES, rows->name[row]).text;
  int is_track = strcmp(name, "thread_name") == 0 || strcmp(name, "process_name") == 0;
  dft_text hash = {"", 0}, text = {"", 0};
  if (!is_track && strcmp(name, "HH") != 0 && strcmp(name, "FH") != 0 && strcmp(name, "SH") != 0) return;
  for (uint32_t i = rows->arg_first[row]; i < rows->arg_first[row + 1]; i++) {
    const dft_cell *cell = &rows->args[i];
    if (cell->type != DFT_STRING) continue;
    if (cell->key == check->key_name) text = (dft_text){cell->value.text, cell->len};
    if (cell->key == check->key_value) hash = (dft_text){cell->value.text, cell->len};
  }
  if (!text.len) findings_add(check->found, is_track ? RULE_TRACK_NAME : RULE_NO_NAME, number);
  if (is_track) return;
  if (!is_hash(hash)) findings_add(check->found, RULE_NUMBER_HASH, number);
  if (hash.len) define(check, rows, row, number, name[0], hash, text);
}

static int is_defined(row_check *check, int which, uint32_t number) {
  const uint32_t *sum = defined(check, which, number);
  return !sum || *sum;
}

static int is_bookkeeping(row_check *check, const dft_rows *rows, uint32_t row) {
  return strcmp(dft_reader_text(check->reader, DFT_CATS, rows->cat[row]).text, "dftracer") == 0;
}

/* Arguments that hold the hash of a text: those named *_hash, and cwd of the event start. */
static int holds_hash(row_check *check, const dft_rows *rows, uint32_t row, const dft_cell *cell) {
  dft_text key = dft_reader_text(check->reader, DFT_KEYS, cell->key);
  if (key.len > 5 && memcmp(key.text + key.len - 5, "_hash", 5) == 0) return 1;
  return strcmp(key.text, "cwd") == 0 && is_bookkeeping(check, rows, row);
}

static void check_arguments(row_check *check, const dft_rows *rows, uint32_t row, uint64_t number) {
  for (uint32_t i = rows->arg_first[row]; i < rows->arg_first[row + 1]; i++) {
    const dft_cell *cell = &rows->args[i];
    dft_text text = {cell->value.text, cell->type == DFT_STRING ? cell->len : 0};
    int is_number = 0;
    for (size_t k = 0; k < sizeof check->key_numbers / sizeof check->key_numbers[0]; k++)
      is_number |= cell->key == check->key_numbers[k];
    if (is_number && cell->type != DFT_INT && cell->type != DFT_UINT && cell->type != DFT_BOOL &&
        (!text.len || strspn(text.text + (text.text[0] == '-'), "0123456789") < text.len - (text.text[0] == '-')))
      findings_add(check->found, RULE_NUMBER, number);
    if (!holds_hash(check, rows, row, cell)) continue;
    if (!is_hash(text)) findings_add(check->found, RULE_NUMBER_HASH, number);
    else {
      uint32_t known = dft_reader_number(check->reader, DFT_FILES, text.text, text.len);
      if (!is_defined(check, FILES, known) && !is_defined(check, TEXTS, known))
        findings_add(check->found, RULE_FILE_HASH, number);
    }
  }
}

static void check_hashes(row_check *check, const dft_rows *rows, uint32_t row, uint64_t number) {
  dft_text line = rows->line[row];
  uint32_t host = rows->host[row], file = rows->file[row];
  if (!is_quoted(line, "\"hhash\":") || !is_quoted(line, "\"fhash\":") ||
      (host && !is_hash(dft_reader_hash(check->reader, DFT_HOSTS, host))) ||
      (file && !is_hash(dft_reader_hash(check->reader, DFT_FILES, file))))
    findings_add(check->found, RULE_NUMBER_HASH, number);
  if (!host && rows->phase[row] == 'X') findings_add(check->found, RULE_NO_HOST, number);
  if (host && !is_defined(check, HOSTS, host)) findings_add(check->found, RULE_HOST_HASH, number);
  if (file && !is_defined(check, FILES, file)) findings_add(check->found, RULE_FILE_HASH, number);
}

/* ---- Times ---------------------------------------------------------------------------------------------------------- */

static void report_crossing(void *context, const moment *event, int64_t self) {
  row_check *check = context;
  (void)self;
  if (check->now->crossed != check->crossed) findings_add(check->found, RULE_OVERLAP, (uint64_t)event->offset);
  check->crossed = check->now->crossed;
}

static void check_nesting(row_check *check, const dft_rows *rows, uint32_t row, uint64_t number) {
  int is_new;
  uint32_t thread = numbering_of(&check->threads, rows->pid[row], rows->tid[row], &is_new);
  moment event = {.start = rows->start_ns[row],
                  .end = rows->start_ns[row] + rows->dur_ns[row],
                  .level = rows->level[row] > UINT16_MAX ? UINT16_MAX : (uint16_t)rows->level[row],
                  .offset = (int64_t)number};
  if (thread >= check->time_capacity) {
    uint32_t capacity = (thread + 8) * 2;
    coverage *more = realloc(check->times, capacity * sizeof *more);
    if (!more) {
      check->is_good = 0;
      return;
    }
    memset(more + check->time_capacity, 0, (capacity - check->time_capacity) * sizeof *more);
    check->times = more;
    check->time_capacity = capacity;
  }
  check->now = &check->times[thread];
  check->crossed = check->now->crossed;
  check->is_good &= coverage_add(check->now, &event, WINDOW / (check->threads.count + 1) + WINDOW_LEAST,
                                 report_crossing, check);
}

static void check_times(row_check *check, const dft_rows *rows, uint32_t row, uint64_t number) {
  int64_t start = rows->start_ns[row], parent = rows->parent[row];
  uint32_t level = rows->level[row];
  if (start < EPOCH_FIRST_NS || start > EPOCH_LAST_NS) findings_add(check->found, RULE_EPOCH, number);
  if (rows->phase[row] != 'X' || rows->dur_ns[row] < 0) return;
  if ((level != 0) != (parent != 0) || (level == 1) != (parent == -1) || (!level && !is_bookkeeping(check, rows, row)))
    findings_add(check->found, RULE_LEVEL, number);
  depth_check_add(check->depth, rows, row, number);
  check_nesting(check, rows, row, number);
}

/* ---- A source ------------------------------------------------------------------------------------------------------- */

static void check_rows(row_check *check, const dft_rows *rows) {
  for (uint32_t i = 0; i < rows->count; i++) {
    uint64_t number = check->lines_before + rows->line_in_unit[i] + 1;
    check_identity(check, rows, i, number);
    frame_check_add(check->frame, rows, i, number);
    if (rows->phase[i] == 'M') check_definition(check, rows, i, number);
    else check_times(check, rows, i, number);
    check_hashes(check, rows, i, number);
    if (rows->phase[i] != 'M') check_arguments(check, rows, i, number);
  }
}

static void free_check(row_check *check) {
  idset_free(&check->ids);
  for (uint32_t i = 0; i < check->time_capacity; i++) coverage_free(&check->times[i]);
  free(check->times);
  for (int i = 0; i < DEFINITIONS; i++) free(check->is_defined[i]);
  numbering_free(&check->threads);
  free(check);
}

static int read_all(row_check *check, uint32_t source) {
  dft_source facts = {.struct_size = sizeof facts};
  dft_cursor *cursor;
  const dft_rows *rows;
  dft_status status;
  if (dft_cursor_open(check->reader, source, &cursor) != DFT_OK) return 0;
  while ((status = dft_cursor_next(cursor, &rows)) == DFT_OK && rows && check->is_good) {
    check_rows(check, rows);
    if (rows->is_unit_end && dft_reader_source(check->reader, source, &facts) == DFT_OK)
      check->lines_before = facts.lines;
  }
  dft_cursor_close(cursor);
  return status == DFT_OK;
}

int lint_rows(dft_reader *reader, uint32_t source, findings *found) {
  static const char *const numbers[] = {"step", "image_idx", "ret", "size_sum"};
  row_check *check = calloc(1, sizeof *check);
  int is_good;
  if (!check) return 0;
  check->reader = reader;
  check->found = found;
  check->is_good = 1;
  check->threads.limit = THREADS;
  check->key_name = dft_reader_number(reader, DFT_KEYS, "name", 4);
  check->key_value = dft_reader_number(reader, DFT_KEYS, "value", 5);
  for (int i = 0; i < 4; i++)
    check->key_numbers[i] = dft_reader_number(reader, DFT_KEYS, numbers[i], strlen(numbers[i]));
  check->depth = depth_check_new(found);
  check->frame = frame_check_new(reader, found);
  check->is_good = check->depth && check->frame && read_all(check, source) && check->is_good;
  for (uint32_t i = 0; i < check->time_capacity; i++) {
    check->now = &check->times[i];
    check->crossed = check->now->crossed;
    check->is_good &= coverage_flush(check->now, report_crossing, check);
  }
  depth_check_end(check->depth);
  frame_check_end(check->frame);
  is_good = check->is_good;
  free_check(check);
  return is_good;
}
