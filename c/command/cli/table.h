/* table.h - rows of text in columns that fit the terminal. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TABLE_H
#define DFTRACER_TABLE_H

#include <stddef.h>
#include <stdio.h>

#define TABLE_COLUMNS 17

typedef struct table_column {
  const char *title;
  /* 'l' left, 'r' right, 'o' right and the first to be dropped when space is short, 'k' right and never dropped, 't' text
   * whose end is cut when space is short, 'p' a path whose beginning is cut. Of several that may be dropped, the last one goes
   * first. */
  char kind;
} table_column;

typedef struct table {
  const table_column *columns;
  int column_count;
  char **cells;
  size_t cell_count, cell_capacity;
  int is_short; /* no memory: it has not all cells */
} table;

/* Adds a cell: row after row, from left to right. It becomes printable. */
void table_add(table *sheet, const char *text, size_t len);
/* Adds at most so many characters of the text, with a mark where it was cut. */
void table_add_start(table *sheet, const char *text, int most);
__attribute__((format(printf, 2, 3))) void table_format(table *sheet, const char *format, ...);
/* How many columns a line may have: those of the terminal, or of COLUMNS. In a file or a pipe there is no limit. */
int table_room(FILE *out);
/* Prints and empties the table. Every line starts with `indent` spaces. Columns are dropped, and then named below the table,
 * only on a terminal or when COLUMNS is set. */
void table_print(table *sheet, FILE *out, int indent);

/* A line below a table. */
void table_remark(FILE *out, int indent, const char *text);

/* A section's title in bold, and a note in a dimmed colour. */
void table_heading(FILE *out, const char *title, const char *note);

#endif
