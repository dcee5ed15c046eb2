/* table.c - rows of text in columns that fit the terminal.
 * SPDX-License-Identifier: MIT */
#include "table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "terminal.h"

#define GAP 2        /* spaces between columns */
#define LEAST_TEXT 8 /* what a text column keeps when space is short */

static int is_continuation(char c) {
  return ((unsigned char)c & 0xc0) == 0x80;
}

/* Characters, taking each for one column wide. */
static int width_of(const char *text) {
  int width = 0;
  for (; *text; text++) width += !is_continuation(*text);
  return width;
}

void table_add(table *of, const char *text, size_t len) {
  char *copy;
  if (of->cell_count == of->cell_capacity) {
    size_t capacity = of->cell_capacity ? of->cell_capacity * 2 : 256;
    char **more = realloc(of->cells, capacity * sizeof *more);
    if (!more) return;
    of->cells = more;
    of->cell_capacity = capacity;
  }
  copy = malloc(len + 1);
  if (!copy) return;
  for (size_t i = 0; i < len; i++) copy[i] = (unsigned char)text[i] < 0x20 || text[i] == 0x7f ? '?' : text[i];
  copy[len] = '\0';
  of->cells[of->cell_count++] = copy;
}

void table_format(table *of, const char *format, ...) {
  char text[256];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  table_add(of, text, strlen(text));
}

/* Prints exactly `width` columns. */
static void print_cell(FILE *out, const char *text, int width, char kind) {
  int own = width_of(text);
  const char *mark = terminal_has_unicode() ? "\u2026" : "~";
  if (own <= width) {
    int blank = width - own;
    fprintf(out, "%*s%s%*s", kind == 'r' ? blank : 0, "", text, kind == 'r' ? 0 : blank, "");
    return;
  }
  if (kind == 'p') { /* the end of a path says more than its beginning */
    for (int skip = own - width + 1; skip > 0 || is_continuation(*text); text++)
      skip -= !is_continuation(*text) && skip > 0;
    fprintf(out, "%s%s", mark, text);
    return;
  }
  for (int left = width - 1; left > 0 || is_continuation(*text); text++) {
    if (!is_continuation(*text)) left--;
    fputc(*text, out);
  }
  fputs(mark, out);
}

static void find_widths(const table *of, int width[], int room) {
  int all = 0;
  for (int i = 0; i < of->column_count; i++) width[i] = width_of(of->columns[i].title);
  for (size_t i = 0; i < of->cell_count; i++) {
    int column = (int)(i % (size_t)of->column_count);
    int own = width_of(of->cells[i]);
    if (own > width[column]) width[column] = own;
  }
  for (int i = 0; i < of->column_count; i++) all += width[i] + (i ? GAP : 0);
  while (all > room) { /* the widest text gives way */
    int widest = -1;
    for (int i = 0; i < of->column_count; i++) {
      int can_shrink = of->columns[i].kind == 't' || of->columns[i].kind == 'p';
      if (can_shrink && width[i] > LEAST_TEXT && (widest < 0 || width[i] > width[widest])) widest = i;
    }
    if (widest < 0) break;
    width[widest]--;
    all--;
  }
}

void table_print(table *of, FILE *out, int indent) {
  int width[TABLE_COLUMNS];
  int has_colour = terminal_has_colour(out);
  find_widths(of, width, terminal_width(out) - indent);
  fprintf(out, "%*s%s", indent, "", has_colour ? "\033[2m" : "");
  for (int i = 0; i < of->column_count; i++) {
    int is_last = i + 1 == of->column_count;
    char kind = of->columns[i].kind;
    print_cell(out, of->columns[i].title, is_last && kind != 'r' ? width_of(of->columns[i].title) : width[i], kind);
    fprintf(out, "%*s", is_last ? 0 : GAP, "");
  }
  fprintf(out, "%s\n", has_colour ? "\033[0m" : "");
  for (size_t i = 0; i < of->cell_count; i++) {
    int column = (int)(i % (size_t)of->column_count);
    int is_last = column + 1 == of->column_count;
    char kind = of->columns[column].kind;
    int own = width_of(of->cells[i]);
    if (!column) fprintf(out, "%*s", indent, "");
    print_cell(out, of->cells[i], is_last && kind != 'r' && own < width[column] ? own : width[column], kind);
    fprintf(out, "%s", is_last ? "\n" : "  ");
  }
  for (size_t i = 0; i < of->cell_count; i++) free(of->cells[i]);
  free(of->cells);
  of->cells = NULL;
  of->cell_count = of->cell_capacity = 0;
}

void table_heading(FILE *out, const char *title, const char *note) {
  int has_colour = terminal_has_colour(out);
  fprintf(out, "\n%s%s%s", has_colour ? "\033[1m" : "", title, has_colour ? "\033[0m" : "");
  if (note && *note) fprintf(out, "  %s%s%s", has_colour ? "\033[2m" : "", note, has_colour ? "\033[0m" : "");
  fputc('\n', out);
}
