/* tables.h - the rows on their way into a segment file: one chunk of every column in memory.
 *
 * A table's full chunk goes into the segment at once; what does not fill one goes there as a tail before each commit, so
 * that the file holds everything and memory nothing that would be missed.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_H5_TABLES_H
#define DFTRACER_H5_TABLES_H

#include "filter.h"
#include "segment.h"

#define DFT__H5_TAILS 64u        /* of which the place is remembered, to give it back */
#define DFT__H5_TAIL_LEAST 8192u /* bytes that are worth it: file systems give back whole blocks */

typedef struct dft__h5_tables {
  dft__h5_segment *segment;
  dft__h5_filter *filter;
  uint32_t is_job;
  int has_failed;                 /* no memory, or compression failed: nothing more is written */
  void *data[DFT__H5_COLUMNS];    /* one chunk each; NULL: the column is not in use */
  uint64_t rows[DFT__H5_TABLES];  /* all */
  uint64_t saved[DFT__H5_TABLES]; /* those that the segment holds, in chunks or tails */
  uint32_t tail_count;
  struct dft__h5_tail_place {
    uint64_t offset, bytes, last_row;
    uint32_t table;
  } tails[DFT__H5_TAILS];
} dft__h5_tables;

/* Zero without memory. */
int dft__h5_tables_make(dft__h5_tables *tables, dft__h5_segment *segment, int level, uint32_t is_job);
void dft__h5_tables_free(dft__h5_tables *tables);

/* A row: its place in the chunk, for storing into data[]; then the end of it. */
static inline uint32_t dft__h5_row(const dft__h5_tables *tables, uint32_t table) {
  return (uint32_t)tables->rows[table] % DFT__H5_ROWS;
}
void dft__h5_tables_chunk(dft__h5_tables *tables, uint32_t table); /* the chunk is full */
static inline void dft__h5_row_end(dft__h5_tables *tables, uint32_t table) {
  if (++tables->rows[table] % DFT__H5_ROWS == 0) dft__h5_tables_chunk(tables, table);
}

/* Tails of what the segment does not hold yet. Zero when something has failed since the last time. */
int dft__h5_tables_save(dft__h5_tables *tables);
/* What was put before is committed: gives back the tails that chunks have replaced. */
void dft__h5_tables_tidy(dft__h5_tables *tables);

/* The way back, in two walks over a segment file: over its CHUNK records, then over its TAIL records, of which those that
 * chunks have replaced are not read. Zero when the record makes no sense. */
int dft__h5_tables_take_chunk(dft__h5_tables *tables, const dft__h5_record *record);
int dft__h5_tables_take_tail(dft__h5_tables *tables, dft__h5_walk *walk);

#endif
