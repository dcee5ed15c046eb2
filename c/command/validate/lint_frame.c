/* lint_frame.c - the first lines of a trace, its start and end, and what they say of the rest.
 * SPDX-License-Identifier: MIT */
#include "lint_frame.h"

#include <stdlib.h>
#include <string.h>

#include "command/trace/numbering.h"

#define LANES 65535u
#define LANES_LOCATED 1024u /* lanes whose first line is remembered */

/* Places in the opening that differ from the others, and what follows it. */
enum { OPENING_METRIC = 2, OPENING_METADATA = 3, OPENING_START = 6, OPENED = 7, BROKEN = 8 };

struct frame_check {
  dft_reader *reader;
  findings *found;
  uint64_t records, events; /* records: all but bookkeeping */
  uint64_t starts, ends;
  int64_t counted; /* num_events; -1: not given */
  uint64_t end_line;
  int place;                          /* of the next line in the opening; OPENED: start came */
  numbering lanes;                    /* with events */
  uint64_t lane_lines[LANES_LOCATED]; /* of their first event */
  numbering named;                    /* lanes with a thread_name */
  uint32_t key_name, key_value, key_num_events;
};

frame_check *frame_check_new(dft_reader *reader, findings *found) {
  frame_check *check = calloc(1, sizeof *check);
  if (!check) return NULL;
  check->reader = reader;
  check->found = found;
  check->counted = -1;
  check->lanes.limit = check->named.limit = LANES;
  check->key_name = dft_reader_number(reader, DFT_KEYS, "name", 4);
  check->key_value = dft_reader_number(reader, DFT_KEYS, "value", 5);
  check->key_num_events = dft_reader_number(reader, DFT_KEYS, "num_events", 10);
  return check;
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

static int is_unit(const frame_check *check, const dft_rows *rows, uint32_t row) {
  return says(rows, row, check->key_value, "US") || says(rows, row, check->key_value, "NS") ||
         says(rows, row, check->key_value, "MS") || says(rows, row, check->key_value, "SEC");
}

/* Line 1 is [, so the lines of the opening are the first rows. */
static void check_opening(frame_check *check, const dft_rows *rows, uint32_t row, const char *name, uint64_t line) {
  static const char *const opening[] = {"HH", "thread_name", "CM", "FH", "SH", "SH", "start"};
  char phase = (char)rows->phase[row];
  if (check->place >= OPENED) return;
  if (check->place == OPENING_METADATA && strcmp(name, "start") == 0) check->place = OPENING_START;
  if (strcmp(name, opening[check->place]) != 0 || phase != (check->place == OPENING_START ? 'X' : 'M') ||
      (check->place == OPENING_METRIC &&
       !(says(rows, row, check->key_name, "time_metric") && is_unit(check, rows, row)))) {
    findings_add(check->found, RULE_OPENING, line);
    check->place = BROKEN;
    return;
  }
  check->place++;
}

static void check_end(frame_check *check, const dft_rows *rows, uint32_t row, uint64_t line) {
  for (uint32_t i = rows->arg_first[row]; i < rows->arg_first[row + 1]; i++) {
    if (rows->args[i].key == check->key_num_events && rows->args[i].type == DFT_INT)
      check->counted = rows->args[i].value.i;
  }
  check->end_line = line;
}

/* Lines that a trace may have even if the program recorded nothing. */
static int is_own_metadata(const frame_check *check, const dft_rows *rows, uint32_t row, const char *name) {
  static const char *const names[] = {"HH", "FH", "SH", "PR", "thread_name", "process_name"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(name, names[i]) == 0) return 1;
  }
  return strcmp(name, "CM") == 0 && says(rows, row, check->key_name, "time_metric");
}

void frame_check_add(frame_check *check, const dft_rows *rows, uint32_t row, uint64_t line) {
  const char *name = dft_reader_text(check->reader, DFT_NAMES, rows->name[row]).text;
  int is_ours = strcmp(dft_reader_text(check->reader, DFT_CATS, rows->cat[row]).text, "dftracer") == 0;
  int is_start = is_ours && strcmp(name, "start") == 0, is_end = is_ours && strcmp(name, "end") == 0, is_new;
  check_opening(check, rows, row, is_ours ? name : "", line);
  if (rows->phase[row] == 'X' && (is_start || is_end)) {
    uint64_t *count = is_start ? &check->starts : &check->ends;
    if (++*count > 1 || rows->dur_ns[row] != 0) findings_add(check->found, RULE_BOOKKEEPING, line);
    if (is_end) check_end(check, rows, row, line);
  } else if (rows->phase[row] != 'M' || !(is_ours && is_own_metadata(check, rows, row, name))) {
    check->records++;
    check->events += rows->phase[row] == 'X';
  }
  if (rows->tid[row] <= LANE_FIRST) return;
  if (rows->phase[row] == 'X') {
    uint32_t lane = numbering_of(&check->lanes, rows->tid[row], 0, &is_new);
    if (is_new && lane < LANES_LOCATED) check->lane_lines[lane] = line;
  } else if (rows->phase[row] == 'M' && strcmp(name, "thread_name") == 0) {
    numbering_of(&check->named, rows->tid[row], 0, &is_new);
  }
}

void frame_check_end(frame_check *check) {
  int is_new;
  if (!check) return;
  if (check->place < OPENED) findings_add(check->found, RULE_OPENING, 0);
  if (!check->records) findings_add(check->found, RULE_NOTHING, 0);
  if (check->counted >= 0 && (uint64_t)check->counted != check->events)
    findings_add(check->found, RULE_BOOKKEEPING, check->end_line);
  for (uint32_t i = 1; i <= check->lanes.count; i++) {
    numbering_of(&check->named, check->lanes.keys[i].a, 0, &is_new);
    if (is_new) findings_add(check->found, RULE_LANE, i < LANES_LOCATED ? check->lane_lines[i] : 0);
  }
  numbering_free(&check->lanes);
  numbering_free(&check->named);
  free(check);
}
