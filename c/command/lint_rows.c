/* lint_rows.c - the rules of what lines say: identity, times, nesting, hashes. One source, in its order.
 * SPDX-License-Identifier: MIT */
#include <dftracer/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coverage.h"
#include "idset.h"
#include "numbering.h"
#include "rules.h"

#define WINDOW 65536u
#define THREADS 65535u

typedef struct state {
  dft_reader *reader;
  findings *findings;
  idset ids;
  numbering threads;
  coverage *times; /* by thread */
  uint32_t time_capacity;
  coverage *now; /* the thread whose events are accounted for */
  uint64_t crossed;
  uint8_t *is_defined[2]; /* hosts, files: by number */
  uint32_t defined_capacity[2];
  uint64_t pid;
  uint64_t lines_before; /* the unit at hand */
  uint32_t key_name, key_value;
  int is_good;
} state;

enum { HOSTS, FILES };

static uint8_t *defined(state *of, int which, uint32_t number) {
  if (number >= of->defined_capacity[which]) {
    uint32_t capacity = (number + 64) * 2;
    uint8_t *more = realloc(of->is_defined[which], capacity);
    if (!more) {
      of->is_good = 0;
      return NULL;
    }
    memset(more + of->defined_capacity[which], 0, capacity - of->defined_capacity[which]);
    of->is_defined[which] = more;
    of->defined_capacity[which] = capacity;
  }
  return &of->is_defined[which][number];
}

/* What stands behind the first `"key":` of the line; a zero when it is not there. */
static char first_of(dft_text line, const char *key) {
  const char *at = memmem(line.text, line.len, key, strlen(key));
  return at && at + strlen(key) < line.text + line.len ? at[strlen(key)] : '\0';
}

static int is_whole(dft_text line, const char *key) {
  const char *at = memmem(line.text, line.len, key, strlen(key));
  if (!at) return 0;
  at += strlen(key);
  if (*at < '0' || *at > '9') return 0;
  while (*at >= '0' && *at <= '9') at++;
  return *at == ',' || *at == '}';
}

/* ---- Lines ---------------------------------------------------------------------------------------------------------- */

static void check_identity(state *of, const dft_rows *rows, uint32_t row, uint64_t number) {
  dft_text line = rows->line[row];
  uint64_t id = rows->id[row];
  uint8_t phase = rows->phase[row];
  char args = first_of(line, "\"args\":");
  if (first_of(line, "\"ph\":") != '"' || (phase != 'X' && phase != 'M' && phase != 'C'))
    found(of->findings, RULE_PHASE, number);
  if (!rows->name[row] || !rows->cat[row]) found(of->findings, RULE_EMPTY_NAME, number);
  if (!is_whole(line, "\"pid\":") || !is_whole(line, "\"tid\":") || rows->pid[row] > UINT32_MAX ||
      rows->tid[row] > UINT32_MAX) {
    found(of->findings, RULE_TRACK, number);
  }
  if (args != '{') found(of->findings, RULE_ARGS, number);
  if (!id || id > INT64_MAX) found(of->findings, RULE_ID, number);
  else if (idset_add(&of->ids, id) == 1) found(of->findings, RULE_SAME_ID, number);
  if (!of->pid) of->pid = rows->pid[row];
  if (rows->pid[row] != of->pid) found(of->findings, RULE_PROCESSES, number);
}

static void check_definition(state *of, const dft_rows *rows, uint32_t row, uint64_t number) {
  dft_text name = dft_reader_text(of->reader, DFT_NAMES, rows->name[row]), hash = {"", 0};
  int which = strcmp(name.text, "HH") == 0 ? HOSTS : FILES;
  int has_name = 0, is_text = 0;
  char digits[24];
  if (strcmp(name.text, "HH") != 0 && strcmp(name.text, "FH") != 0 && strcmp(name.text, "SH") != 0) return;
  for (uint32_t i = rows->arg_first[row]; i < rows->arg_first[row + 1]; i++) {
    const dft_cell *cell = &rows->args[i];
    if (cell->key == of->key_name) has_name = cell->type == DFT_STRING && cell->len;
    if (cell->key != of->key_value) continue;
    is_text = cell->type == DFT_STRING;
    if (is_text) hash = (dft_text){cell->value.text, cell->len};
    else hash = (dft_text){digits, (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)cell->value.u)};
  }
  if (!has_name) found(of->findings, RULE_NO_NAME, number);
  if (!is_text) found(of->findings, RULE_NUMBER_HASH, number);
  if (name.text[0] != 'S' && hash.len) {
    uint32_t dictionary = which == HOSTS ? DFT_HOSTS : DFT_FILES;
    uint32_t known = dft_reader_number(of->reader, dictionary, hash.text, hash.len);
    uint8_t *flag = defined(of, which, known);
    if (flag) *flag = 1;
    if (which == HOSTS && rows->host[row] != known) found(of->findings, RULE_HOST, number);
  }
}

static void check_hashes(state *of, const dft_rows *rows, uint32_t row, uint64_t number) {
  dft_text line = rows->line[row];
  char host = first_of(line, "\"hhash\":"), file = first_of(line, "\"fhash\":");
  const uint8_t *flag;
  if ((host && host != '"') || (file && file != '"')) found(of->findings, RULE_NUMBER_HASH, number);
  if (!host && rows->phase[row] == 'X') found(of->findings, RULE_NO_HOST, number);
  if (rows->host[row] && (flag = defined(of, HOSTS, rows->host[row])) && !*flag)
    found(of->findings, RULE_HOST_HASH, number);
  if (rows->file[row] && (flag = defined(of, FILES, rows->file[row])) && !*flag)
    found(of->findings, RULE_FILE_HASH, number);
}

/* ---- Times ---------------------------------------------------------------------------------------------------------- */

static void crossed(void *context, const moment *event, int64_t self) {
  state *of = context;
  (void)self;
  if (of->now->crossed != of->crossed) found(of->findings, RULE_OVERLAP, (uint64_t)event->offset);
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
  dft_text line = rows->line[row];
  int is_complete = rows->phase[row] == 'X';
  int has_level = first_of(line, "\"level\":") != '\0', has_parent = rows->parent[row] != 0;
  if (!is_whole(line, "\"ts\":") || (is_complete && !is_whole(line, "\"dur\":"))) {
    found(of->findings, RULE_TIME, number);
    return;
  }
  if (rows->start_ns[row] < 1000000000000000000) found(of->findings, RULE_EPOCH, number);
  if (!is_complete) return;
  if (has_level != has_parent || (has_level && (rows->level[row] == 1) != (rows->parent[row] == -1))) {
    found(of->findings, RULE_LEVEL, number);
  }
  check_nesting(of, rows, row, number);
}

/* ---- A source ------------------------------------------------------------------------------------------------------- */

static void check_rows(state *of, const dft_rows *rows) {
  for (uint32_t i = 0; i < rows->count; i++) {
    uint64_t number = of->lines_before + rows->line_in_unit[i] + 1;
    check_identity(of, rows, i, number);
    if (rows->phase[i] == 'M') check_definition(of, rows, i, number);
    else check_times(of, rows, i, number);
    check_hashes(of, rows, i, number);
  }
}

static void free_state(state *of) {
  idset_free(&of->ids);
  for (uint32_t i = 0; i < of->time_capacity; i++) coverage_free(&of->times[i]);
  free(of->times);
  free(of->is_defined[HOSTS]);
  free(of->is_defined[FILES]);
  numbering_free(&of->threads);
  free(of);
}

int lint_rows(dft_reader *reader, uint32_t source, findings *all) {
  dft_source facts = {.struct_size = sizeof facts};
  state *of = calloc(1, sizeof *of);
  dft_cursor *cursor;
  const dft_rows *rows;
  int is_good;
  if (!of) return 0;
  of->reader = reader;
  of->findings = all;
  of->is_good = 1;
  of->threads.limit = THREADS;
  of->key_name = dft_reader_number(reader, DFT_KEYS, "name", 4);
  of->key_value = dft_reader_number(reader, DFT_KEYS, "value", 5);
  if (dft_cursor_open(reader, source, &cursor) == DFT_OK) {
    dft_status status;
    while ((status = dft_cursor_next(cursor, &rows)) == DFT_OK && rows && of->is_good) {
      check_rows(of, rows);
      if (rows->is_unit_end && dft_reader_source(reader, source, &facts) == DFT_OK) of->lines_before = facts.lines;
    }
    of->is_good &= status == DFT_OK;
    dft_cursor_close(cursor);
  } else {
    of->is_good = 0;
  }
  for (uint32_t i = 0; i < of->time_capacity; i++) {
    of->now = &of->times[i];
    of->crossed = of->now->crossed;
    of->is_good &= coverage_flush(of->now, crossed, of);
  }
  is_good = of->is_good;
  free_state(of);
  return is_good;
}
