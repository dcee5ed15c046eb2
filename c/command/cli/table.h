/* table.h - rows of text in columns that fit the terminal. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TABLE_H
#define DFTRACER_TABLE_H

#include <stddef.h>
#include <stdio.h>

#define TABLE_COLUMNS 12

typedef struct table_column {
  const char *title;
  /* 'l' left, 'r' right, 'o' right and the first to be left out when space is short, 't' text that is cut at its end then,
   * 'p' a path, cut at its beginning. */
  char kind;
} table_column;

typedef struct table {
  const table_column *columns;
  int column_count;
  char **cells;
  size_t cell_count, cell_capacity;
} table;

/* Adds a cell: row after row, from left to right. Control characters become '?'. */
void table_add(table *of, const char *text, size_t len);
__attribute__((format(printf, 2, 3))) void table_format(table *of, const char *format, ...);
/* Prints and empties it. `indent` spaces stand before every line. */
void table_print(table *of, FILE *out, int indent);

/* Titles of sections, and what is said less loudly. */
void table_heading(FILE *out, const char *title, const char *note);

#endif
