/* columns.h - the memory of one batch of rows. SPDX-License-Identifier: MIT */
#ifndef DFT_READER_COLUMNS_H
#define DFT_READER_COLUMNS_H

#include <dftracer/reader.h>

#define DFT__BATCH_ROWS 16384u
#define DFT__BATCH_CELLS 65536u /* a batch ends with the line that reaches this many */

/* name, type: the arrays of dft_rows, each with one entry per row */
#define DFT__COLUMN_LIST(X) \
  X(phase, uint8_t)         \
  X(id, uint64_t)           \
  X(start_ns, int64_t)      \
  X(dur_ns, int64_t)        \
  X(pid, uint64_t)          \
  X(tid, uint64_t)          \
  X(name, uint32_t)         \
  X(cat, uint32_t)          \
  X(host, uint32_t)         \
  X(file, uint32_t)         \
  X(level, uint32_t)        \
  X(parent, int64_t)        \
  X(arg_first, uint32_t)    \
  X(line, dft_text)         \
  X(line_in_unit, uint32_t)

typedef struct dft__columns {
#define DFT__COLUMN(name, type) type *name;
  DFT__COLUMN_LIST(DFT__COLUMN)
#undef DFT__COLUMN
  dft_cell *cells;
  uint32_t cell_capacity;
  uint32_t cell_count;
  uint32_t count;
} dft__columns;

int dft__columns_init(dft__columns *columns); /* 0: no memory */
void dft__columns_free(dft__columns *columns);
dft_cell *dft__columns_add_cell(dft__columns *columns); /* NULL: no memory */
static inline int dft__columns_are_full(const dft__columns *columns) {
  return columns->count == DFT__BATCH_ROWS || columns->cell_count >= DFT__BATCH_CELLS;
}
void dft__columns_show(const dft__columns *columns, dft_rows *rows);

#endif
