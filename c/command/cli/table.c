/* table.c - rows of text in columns that fit the terminal.
 * SPDX-License-Identifier: MIT */
#include "table.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "printable.h"
#include "terminal.h"

#define GAP 2        /* spaces between columns */
#define LEAST_TEXT 8 /* the least width of a text column */
#define FAIR_TEXT 20 /* its width as long as any other column can be dropped, */
#define GOOD_TEXT 28 /* and as long as there is one that matters little */

static int is_continuation(char c) {
  return ((unsigned char)c & 0xc0) == 0x80;
}

/* In characters; each is taken to be one column wide. */
static int width_of(const char *text) {
  int width = 0;
  for (; *text; text++) width += !is_continuation(*text);
  return width;
}

static const char *cut_mark(void) {
  return terminal_has_unicode() ? "\u2026" : "~";
}

void table_add(table *sheet, const char *text, size_t len) {
  char *copy;
  if (sheet->cell_count == sheet->cell_capacity) {
    size_t capacity = sheet->cell_capacity ? sheet->cell_capacity * 2 : 256;
    char **more = realloc(sheet->cells, capacity * sizeof *more);
    sheet->is_short |= !more;
    if (!more) return;
    sheet->cells = more;
    sheet->cell_capacity = capacity;
  }
  copy = strdup(printable_n(text, len));
  sheet->is_short |= !copy;
  if (!copy) return;
  sheet->cells[sheet->cell_count++] = copy;
}

void table_add_start(table *sheet, const char *text, int most) {
  char *start;
  size_t len = 0;
  if (width_of(text) <= most) {
    table_add(sheet, text, strlen(text));
    return;
  }
  for (int left = most - 1; left > 0 || is_continuation(text[len]); len++) left -= !is_continuation(text[len]);
  if (asprintf(&start, "%.*s%s", (int)len, text, cut_mark()) < 0) {
    sheet->is_short = 1;
    return;
  }
  table_add(sheet, start, strlen(start));
  free(start);
}

void table_format(table *sheet, const char *format, ...) {
  char text[256];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  table_add(sheet, text, strlen(text));
}

static int is_right(char kind) {
  return kind == 'r' || kind == 'o' || kind == 'k';
}

/* Prints exactly `width` columns. */
static void print_cell(FILE *out, const char *text, int width, char kind) {
  int own = width_of(text);
  if (own <= width) {
    int blank = width - own;
    fprintf(out, "%*s%s%*s", is_right(kind) ? blank : 0, "", text, is_right(kind) ? 0 : blank, "");
    return;
  }
  if (kind == 'p') { /* the end of a path says more than its beginning */
    for (int skip = own - width + 1; skip > 0 || is_continuation(*text); text++)
      skip -= !is_continuation(*text) && skip > 0;
    fprintf(out, "%s%s", cut_mark(), text);
    return;
  }
  for (int left = width - 1; left > 0 || is_continuation(*text); text++) {
    if (!is_continuation(*text)) left--;
    fputc(*text, out);
  }
  fputs(cut_mark(), out);
}

static int is_text(const table *sheet, int column) {
  return sheet->columns[column].kind == 't' || sheet->columns[column].kind == 'p';
}

static int sum_of(const table *sheet, const int width[], int text_most) {
  int all = -GAP;
  for (int i = 0; i < sheet->column_count; i++) {
    if (width[i] < 0) continue;
    all += GAP + (is_text(sheet, i) && width[i] > text_most ? text_most : width[i]);
  }
  return all;
}

/* A width below zero means that the column is dropped. */
static void find_widths(const table *sheet, int width[], int room) {
  for (int i = 0; i < sheet->column_count; i++) width[i] = width_of(sheet->columns[i].title);
  for (size_t i = 0; i < sheet->cell_count; i++) {
    int column = (int)(i % (size_t)sheet->column_count);
    int own = width_of(sheet->cells[i]);
    if (own > width[column]) width[column] = own;
  }
  for (int i = sheet->column_count - 1; i >= 0 && sum_of(sheet, width, GOOD_TEXT) > room; i--) {
    if (sheet->columns[i].kind == 'o') width[i] = -1;
  }
  for (int i = sheet->column_count - 1; i > 1 && sum_of(sheet, width, FAIR_TEXT) > room; i--) {
    if (sheet->columns[i].kind == 'r') width[i] = -1;
  }
  while (sum_of(sheet, width, INT_MAX) > room) { /* shorten the widest text */
    int widest = -1;
    for (int i = 0; i < sheet->column_count; i++) {
      if (is_text(sheet, i) && width[i] > LEAST_TEXT && (widest < 0 || width[i] > width[widest])) widest = i;
    }
    if (widest < 0) break;
    width[widest]--;
  }
}

/* A left-aligned column at the end of the line is not padded. */
static void print_column(const table *sheet, FILE *out, int column, const char *text, const int width[]) {
  char kind = sheet->columns[column].kind;
  int is_last = 1, own = width_of(text);
  if (width[column] < 0) return;
  for (int i = column + 1; i < sheet->column_count; i++) is_last &= width[i] < 0;
  print_cell(out, text, is_last && !is_right(kind) && own < width[column] ? own : width[column], kind);
  if (!is_last) fprintf(out, "%*s", GAP, "");
}

int table_room(FILE *out) {
  const char *columns = getenv("COLUMNS");
  return isatty(fileno(out)) || (columns && *columns) ? terminal_width(out) : INT_MAX;
}

void table_remark(FILE *out, int indent, const char *text) {
  fprintf(out, "%*s", indent, "");
  terminal_wrap(out, text, indent, indent, table_room(out));
}

static void name_dropped(const table *sheet, FILE *out, int indent, const int width[]) {
  char text[512] = "";
  size_t len = 0;
  for (int i = 0; i < sheet->column_count && len < sizeof text; i++) {
    if (width[i] >= 0) continue;
    len += (size_t)snprintf(text + len, sizeof text - len, "%s%s",
                            len ? ", " : "not shown, for lack of width: ", sheet->columns[i].title);
  }
  if (len) table_remark(out, indent, text);
}

void table_print(table *sheet, FILE *out, int indent) {
  int width[TABLE_COLUMNS];
  int has_colour = terminal_has_colour(out);
  find_widths(sheet, width, table_room(out) - indent);
  fprintf(out, "%*s%s", indent, "", has_colour ? "\033[2m" : "");
  for (int i = 0; i < sheet->column_count; i++) print_column(sheet, out, i, sheet->columns[i].title, width);
  fprintf(out, "%s\n", has_colour ? "\033[0m" : "");
  if (sheet->is_short) fprintf(out, "%*s(out of memory)\n", indent, "");
  for (size_t i = 0; i < sheet->cell_count && !sheet->is_short; i++) {
    int column = (int)(i % (size_t)sheet->column_count);
    if (!column) fprintf(out, "%*s", indent, "");
    print_column(sheet, out, column, sheet->cells[i], width);
    if (column + 1 == sheet->column_count) fputc('\n', out);
  }
  name_dropped(sheet, out, indent, width);
  for (size_t i = 0; i < sheet->cell_count; i++) free(sheet->cells[i]);
  free(sheet->cells);
  sheet->cells = NULL;
  sheet->cell_count = sheet->cell_capacity = 0;
  sheet->is_short = 0;
}

void table_heading(FILE *out, const char *title, const char *note) {
  int has_colour = terminal_has_colour(out);
  fprintf(out, "\n%s%s%s", has_colour ? "\033[1m" : "", title, has_colour ? "\033[0m" : "");
  if (!note || !*note) {
    fputc('\n', out);
    return;
  }
  fprintf(out, "  %s", has_colour ? "\033[2m" : "");
  terminal_wrap(out, note, width_of(title) + 2, 2, table_room(out));
  if (has_colour) fprintf(out, "\033[0m");
}
