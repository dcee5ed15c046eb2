/* columns.c - the memory of one batch of rows.
 * SPDX-License-Identifier: MIT */
#include "columns.h"

#include <stdlib.h>

int dft__columns_init(dft__columns *columns) {
  int is_good = 1;
  memset(columns, 0, sizeof *columns);
#define ALLOCATE(name, type)                                    \
  columns->name = malloc((DFT__BATCH_ROWS + 1) * sizeof(type)); \
  is_good &= columns->name != NULL;
  DFT__COLUMN_LIST(ALLOCATE)
#undef ALLOCATE
  columns->cell_capacity = DFT__BATCH_CELLS + 1024;
  columns->cells = malloc(columns->cell_capacity * sizeof *columns->cells);
  return is_good && columns->cells;
}

void dft__columns_free(dft__columns *columns) {
#define FREE(name, type) free(columns->name);
  DFT__COLUMN_LIST(FREE)
#undef FREE
  free(columns->cells);
}

dft_cell *dft__columns_add_cell(dft__columns *columns) {
  if (columns->cell_count == columns->cell_capacity) {
    dft_cell *cells;
    if (columns->cell_capacity > UINT32_MAX / 2) return NULL;
    cells = realloc(columns->cells, columns->cell_capacity * 2 * sizeof *cells);
    if (!cells) return NULL;
    columns->cells = cells;
    columns->cell_capacity *= 2;
  }
  return &columns->cells[columns->cell_count++];
}

void dft__columns_show(const dft__columns *columns, dft_rows *rows) {
  rows->count = columns->count;
#define SHOW(name, type) rows->name = columns->name;
  DFT__COLUMN_LIST(SHOW)
#undef SHOW
  columns->arg_first[columns->count] = columns->cell_count;
  rows->args = columns->cells;
}
