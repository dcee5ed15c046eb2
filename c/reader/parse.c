/* parse.c - one line of a trace as one row.
 *
 * No tree is built. One pass over the line fills the columns and turns the other arguments into cells. Keys may come in any
 * order. The pass may look into the padding but never further: a zero ends every text, number and blank.
 * SPDX-License-Identifier: MIT */
#include "parse.h"

#include "canonical.h"
#include "reader/row/scan.h"
#include "reader/row/value.h"

/* What one line says. */
typedef struct parsed_line {
  const char *end;
  dft_text name;
  int has_phase;
  uint64_t phase_number; /* 0: it was a letter */
  int has_start, has_dur;
  uint8_t phase;
} parsed_line;

#define IS(given, literal) \
  ((given).len == sizeof(literal) - 1 && memcmp((given).text, literal, sizeof(literal) - 1) == 0)

/* ---- Values of columns ---------------------------------------------------------------------------------------------- */

/* A process or thread: a number, or a text whose hash serves as one. */
static uint64_t track(const dft_cell *cell) {
  if (cell->type == DFT_INT || cell->type == DFT_UINT) return cell->value.u;
  if (cell->type != DFT_STRING) return 0;
  return dft__hash_text(cell->value.text, cell->len) | (uint64_t)1 << 63;
}

/* A hash is a text, or a number that is taken by its digits. */
static uint32_t hash_number(dft__parser *parser, uint32_t dictionary, const dft_cell *cell, const char *from,
                            const char *to) {
  if (cell->type == DFT_STRING) return dft__cache_number(&parser->cache[dictionary], cell->value.text, cell->len);
  if (cell->type == DFT_INT || cell->type == DFT_UINT) {
    return dft__cache_number(&parser->cache[dictionary], from, (size_t)(to - from));
  }
  return 0;
}

/* ---- Arguments ------------------------------------------------------------------------------------------------------ */

/* Puts an argument into its column. 0: it has none, or its type does not fit. */
static int fill_column(dft__parser *parser, dft_text key, const dft_cell *cell, const char *from, const char *to) {
  dft__columns *columns = parser->columns;
  uint32_t row = columns->count;
  if (key.len != 5) {
    if (IS(key, "hostname") && cell->type == DFT_STRING) {
      columns->host[row] = hash_number(parser, DFT_HOSTS, cell, from, to);
      return 1;
    }
    return 0;
  }
  switch (key.text[0]) {
    case 'h':
      if (!IS(key, "hhash")) return 0;
      return (columns->host[row] = hash_number(parser, DFT_HOSTS, cell, from, to)) != 0;
    case 'f':
      if (!IS(key, "fhash") && !(IS(key, "fname") && cell->type == DFT_STRING)) return 0;
      return (columns->file[row] = hash_number(parser, DFT_FILES, cell, from, to)) != 0;
    case 'p':
      if (!IS(key, "p_idx") || cell->type != DFT_INT) return 0;
      columns->parent[row] = cell->value.i;
      return 1;
    case 'l':
      if (!IS(key, "level") || cell->type != DFT_INT || cell->value.u > UINT32_MAX) return 0;
      columns->level[row] = (uint32_t)cell->value.u;
      return 1;
    default: return 0;
  }
}

/* From after the opening brace to after the closing one. */
static const char *parse_args(dft__parser *parser, dft__values *values, const char *at) {
  at = dft__scan_blank(at);
  if (*at == '}') return at + 1;
  for (;;) {
    dft_text key;
    dft_cell cell;
    const char *from;
    at = dft__scan_blank(at);
    if (*at != '"' || !(at = dft__value_text(values, at + 1, &key))) return NULL;
    at = dft__scan_blank(at);
    if (*at != ':') return NULL;
    from = at = dft__scan_blank(at + 1);
    at = dft__value(values, at, &cell);
    if (!at) return NULL;
    if (!fill_column(parser, key, &cell, from, at)) {
      dft_cell *place = dft__columns_add_cell(parser->columns);
      if (!place) {
        values->problem = DFT__LINE_NO_MEMORY;
        return NULL;
      }
      cell.key = dft__cache_number(&parser->cache[DFT_KEYS], key.text, key.len);
      *place = cell;
    }
    at = dft__scan_blank(at);
    if (*at == '}') return at + 1;
    if (*at++ != ',') return NULL;
  }
}

/* ---- Lines ---------------------------------------------------------------------------------------------------------- */

static const char *parse_phase(dft__values *values, parsed_line *line, const char *at) {
  dft_cell cell;
  at = dft__value(values, at, &cell);
  if (!at) return NULL;
  line->has_phase = 1;
  if (cell.type == DFT_STRING && cell.len == 1) line->phase = (uint8_t)cell.value.text[0];
  else if (cell.type == DFT_INT && cell.value.i > 0) line->phase_number = cell.value.u;
  else return NULL;
  return at;
}

static const char *parse_name(dft__parser *parser, dft__values *values, parsed_line *line, const char *at) {
  if (*at != '"' || !(at = dft__value_text(values, at + 1, &line->name))) return NULL;
  parser->columns->name[parser->columns->count] = dft__cache_number(&parser->cache[DFT_NAMES], line->name.text,
                                                                    line->name.len);
  return at;
}

/* The value of one key of the event itself. */
static const char *parse_member(dft__parser *parser, dft__values *values, parsed_line *line, dft_text key,
                                const char *at) {
  dft__columns *columns = parser->columns;
  uint32_t row = columns->count;
  dft_cell cell;
  switch (key.len) {
    case 2:
      if (IS(key, "ts")) {
        line->has_start = 1;
        return dft__value_time(values, at, parser->unit_ns, &columns->start_ns[row]);
      }
      if (IS(key, "ph")) return parse_phase(values, line, at);
      if (!IS(key, "id")) break;
      at = dft__value(values, at, &cell);
      if (at && (cell.type == DFT_INT || cell.type == DFT_UINT)) columns->id[row] = cell.value.u;
      return at;
    case 3:
      if (IS(key, "dur")) {
        line->has_dur = 1;
        return dft__value_time(values, at, parser->unit_ns, &columns->dur_ns[row]);
      }
      if (!IS(key, "cat") && !IS(key, "pid") && !IS(key, "tid")) break;
      at = dft__value(values, at, &cell);
      if (!at) return NULL;
      if (key.text[0] == 'p') columns->pid[row] = track(&cell);
      else if (key.text[0] == 't') columns->tid[row] = track(&cell);
      else if (cell.type == DFT_STRING)
        columns->cat[row] = dft__cache_number(&parser->cache[DFT_CATS], cell.value.text, cell.len);
      return at;
    case 4:
      if (IS(key, "name")) return parse_name(parser, values, line, at);
      if (IS(key, "args") && *at == '{') return parse_args(parser, values, at + 1);
      break;
    default: break;
  }
  return dft__value(values, at, &cell);
}

static void clear_row(dft__columns *columns) {
  uint32_t row = columns->count;
  columns->id[row] = columns->pid[row] = columns->tid[row] = 0;
  columns->start_ns[row] = columns->dur_ns[row] = columns->parent[row] = 0;
  columns->name[row] = columns->cat[row] = columns->host[row] = columns->file[row] = columns->level[row] = 0;
  columns->arg_first[row] = columns->cell_count;
}

/* The newest DFTracer writes numbers: 1 is complete, 4 is metadata. Any other is judged by which times it has. */
static uint8_t phase_of(const parsed_line *line) {
  if (!line->phase_number) return line->phase;
  if (line->phase_number == 1 || (line->phase_number != 4 && line->has_dur)) return DFT_COMPLETE;
  return line->phase_number != 4 && line->has_start ? DFT_COUNTER : DFT_METADATA;
}

/* HH, FH and SH lines say what a hash means. */
static void define(dft__parser *parser, const parsed_line *line) {
  dft__columns *columns = parser->columns;
  dft_text hash = {NULL, 0}, text = {NULL, 0};
  char digits[24];
  uint32_t dictionary;
  if (IS(line->name, "FH")) dictionary = DFT_FILES;
  else if (IS(line->name, "HH")) dictionary = DFT_HOSTS;
  else if (IS(line->name, "SH")) dictionary = DFT__STRINGS;
  else return;
  for (uint32_t i = columns->arg_first[columns->count]; i < columns->cell_count; i++) {
    const dft_cell *cell = &columns->cells[i];
    if (cell->key == DFT__KEY_name && cell->type == DFT_STRING) text = (dft_text){cell->value.text, cell->len};
    if (cell->key != DFT__KEY_value) continue;
    if (cell->type == DFT_STRING) hash = (dft_text){cell->value.text, cell->len};
    else if (cell->type == DFT_INT || cell->type == DFT_UINT) hash = dft__value_digits(digits, cell);
  }
  if (!hash.len || !text.text) return;
  dft__dictionary_define(&parser->dictionaries[dictionary], hash.text, hash.len, text.text, text.len);
}

static void finish_row(dft__parser *parser, const parsed_line *line, dft_text text) {
  dft__columns *columns = parser->columns;
  uint32_t row = columns->count;
  uint8_t phase = phase_of(line);
  columns->phase[row] = phase;
  if (columns->dur_ns[row] > DFT__TIME_MOST - columns->start_ns[row]) {
    columns->dur_ns[row] = DFT__TIME_MOST - columns->start_ns[row];
    parser->is_time_cut++;
  }
  if (phase == DFT_METADATA) define(parser, line);
  if (!(parser->want & DFT_WANT_ARGS)) columns->cell_count = columns->arg_first[row];
  columns->line[row] = text;
  columns->count++;
}

static int take_canonical(dft__parser *parser, const char *at, const char *end) {
  dft__columns *columns = parser->columns;
  uint32_t row = columns->count;
  clear_row(columns);
  if (*at != '{' || !dft__canonical(parser, at, end)) {
    columns->cell_count = columns->arg_first[row];
    return 0;
  }
  columns->phase[row] = DFT_COMPLETE;
  columns->line[row] = (dft_text){at, (size_t)(end - at)};
  columns->count++;
  return 1;
}

int dft__parse_line(dft__parser *parser, const char *at, const char *end) {
  dft__values values = {.plain = parser->plain, .nesting = parser->nesting, .problem = DFT_PROBLEM_LINE};
  parsed_line line = {.end = end};
  const char *start;
  if (take_canonical(parser, at, end)) return DFT__LINE_ROW;
  at = dft__scan_blank(at);
  while (*at == '[' || *at == ']' || *at == ',') at = dft__scan_blank(at + 1);
  if (at == end) return DFT__LINE_NOTHING;
  start = at;
  clear_row(parser->columns);
  if (*at++ != '{') return DFT_PROBLEM_LINE;
  at = dft__scan_blank(at);
  for (;;) {
    dft_text key;
    at = dft__scan_blank(at);
    if (*at != '"' || !(at = dft__value_text(&values, at + 1, &key))) goto bad;
    at = dft__scan_blank(at);
    if (*at != ':') goto bad;
    at = parse_member(parser, &values, &line, key, dft__scan_blank(at + 1));
    if (!at) goto bad;
    at = dft__scan_blank(at);
    if (*at == '}') break;
    if (*at++ != ',') goto bad;
  }
  end = ++at;
  at = dft__scan_blank(at);
  while (*at == ',' || *at == ']') at = dft__scan_blank(at + 1);
  if (at != line.end || !line.has_phase || !line.name.text) goto bad;
  parser->plain = values.plain;
  parser->is_time_cut += values.times_cut;
  finish_row(parser, &line, (dft_text){start, (size_t)(end - start)});
  return DFT__LINE_ROW;
bad:
  parser->columns->cell_count = parser->columns->arg_first[parser->columns->count];
  return values.problem;
}
