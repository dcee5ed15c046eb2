/* lint_frame.c - the first lines of a trace, its start and end, and what they say of the rest.
 * SPDX-License-Identifier: MIT */
#include <dftracer/reader.h>
#include <stdlib.h>
#include <string.h>

#include "command/trace/numbering.h"
#include "rules.h"

#define LANES 65535u
#define LANES_LOCATED 1024u

struct frame {
  dft_reader *reader;
  findings *findings;
  uint64_t records, events; /* records: all but bookkeeping */
  uint64_t starts, ends;
  int64_t counted; /* num_events; -1: not given */
  uint64_t end_line;
  int place;                          /* in the opening; OPENED: start was there */
  numbering lanes;                    /* with events */
  uint64_t lane_lines[LANES_LOCATED]; /* of their first event */
  numbering named;                    /* lanes with a thread_name */
  uint32_t key_name, key_value, key_num_events;
};

enum { OPENED = 7, BROKEN = 8 };

frame *frame_new(dft_reader *reader, findings *all) {
  frame *of = calloc(1, sizeof *of);
  if (!of) return NULL;
  of->reader = reader;
  of->findings = all;
  of->counted = -1;
  of->lanes.limit = of->named.limit = LANES;
  of->key_name = dft_reader_number(reader, DFT_KEYS, "name", 4);
  of->key_value = dft_reader_number(reader, DFT_KEYS, "value", 5);
  of->key_num_events = dft_reader_number(reader, DFT_KEYS, "num_events", 10);
  return of;
}

static int says(const dft_rows *rows, uint32_t row, uint32_t key, const char *word) {
  for (uint32_t i = rows->arg_first[row]; i < rows->arg_first[row + 1]; i++) {
    const dft_cell *cell = &rows->args[i];
    if (cell->key == key && cell->type == DFT_STRING && cell->len == strlen(word) &&
        memcmp(cell->value.text, word, cell->len) == 0)
      return 1;
  }
  return 0;
}

static int is_unit(const frame *of, const dft_rows *rows, uint32_t row) {
  return says(rows, row, of->key_value, "US") || says(rows, row, of->key_value, "NS") ||
         says(rows, row, of->key_value, "MS") || says(rows, row, of->key_value, "SEC");
}

/* [ was line 1, so the opening's lines are rows 0, 1, 2 ... */
static void check_opening(frame *of, const dft_rows *rows, uint32_t row, const char *name, uint64_t line) {
  static const char *const opening[] = {"HH", "thread_name", "CM", "FH", "SH", "SH", "start"};
  char phase = (char)rows->phase[row];
  if (of->place >= OPENED) return;
  if (of->place == 3 && strcmp(name, "start") == 0) of->place = 6; /* without metadata */
  if (strcmp(name, opening[of->place]) != 0 || phase != (of->place == 6 ? 'X' : 'M') ||
      (of->place == 2 && !(says(rows, row, of->key_name, "time_metric") && is_unit(of, rows, row)))) {
    found(of->findings, RULE_OPENING, line);
    of->place = BROKEN;
    return;
  }
  of->place++;
}

static void check_end(frame *of, const dft_rows *rows, uint32_t row, uint64_t line) {
  for (uint32_t i = rows->arg_first[row]; i < rows->arg_first[row + 1]; i++) {
    if (rows->args[i].key == of->key_num_events && rows->args[i].type == DFT_INT) of->counted = rows->args[i].value.i;
  }
  of->end_line = line;
}

/* Lines that every trace may have, whatever was recorded. */
static int is_own_metadata(const frame *of, const dft_rows *rows, uint32_t row, const char *name) {
  static const char *const names[] = {"HH", "FH", "SH", "PR", "thread_name", "process_name"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(name, names[i]) == 0) return 1;
  }
  return strcmp(name, "CM") == 0 && says(rows, row, of->key_name, "time_metric");
}

void frame_add(frame *of, const dft_rows *rows, uint32_t row, uint64_t line) {
  const char *name = dft_reader_text(of->reader, DFT_NAMES, rows->name[row]).text;
  int is_ours = strcmp(dft_reader_text(of->reader, DFT_CATS, rows->cat[row]).text, "dftracer") == 0;
  int is_start = is_ours && strcmp(name, "start") == 0, is_end = is_ours && strcmp(name, "end") == 0, is_new;
  check_opening(of, rows, row, is_ours ? name : "", line);
  if (rows->phase[row] == 'X' && (is_start || is_end)) {
    uint64_t *count = is_start ? &of->starts : &of->ends;
    if (++*count > 1 || rows->dur_ns[row] != 0) found(of->findings, RULE_BOOKKEEPING, line);
    if (is_end) check_end(of, rows, row, line);
  } else if (rows->phase[row] != 'M' || !(is_ours && is_own_metadata(of, rows, row, name))) {
    of->records++;
    of->events += rows->phase[row] == 'X';
  }
  if (rows->tid[row] <= LANE_FIRST) return;
  if (rows->phase[row] == 'X') {
    uint32_t lane = numbering_of(&of->lanes, rows->tid[row], 0, &is_new);
    if (is_new && lane < LANES_LOCATED) of->lane_lines[lane] = line;
  } else if (rows->phase[row] == 'M' && strcmp(name, "thread_name") == 0) {
    numbering_of(&of->named, rows->tid[row], 0, &is_new);
  }
}

void frame_end(frame *of) {
  int is_new;
  if (!of) return;
  if (of->place < OPENED) found(of->findings, RULE_OPENING, 0);
  if (!of->records) found(of->findings, RULE_NOTHING, 0);
  if (of->counted >= 0 && (uint64_t)of->counted != of->events) found(of->findings, RULE_BOOKKEEPING, of->end_line);
  for (uint32_t i = 1; i <= of->lanes.count; i++) {
    numbering_of(&of->named, of->lanes.keys[i].a, 0, &is_new);
    if (is_new) found(of->findings, RULE_LANE, i < LANES_LOCATED ? of->lane_lines[i] : 0);
  }
  numbering_free(&of->lanes);
  numbering_free(&of->named);
  free(of);
}
