/* tables.c - the rows on their way into a segment file.
 * SPDX-License-Identifier: MIT */
#include "tables.h"

#include <stdlib.h>
#include <string.h>

#include "delta.h"

#define EACH_COLUMN(column, tables, of)                         \
  for (uint32_t column = 0; column < DFT__H5_COLUMNS; column++) \
    if (dft__h5_columns[column].table == (of) && (tables)->data[column])

int dft__h5_tables_make(dft__h5_tables *tables, dft__h5_segment *segment, int level, uint32_t is_job) {
  memset(tables, 0, sizeof *tables);
  tables->segment = segment;
  tables->is_job = is_job;
  tables->filter = dft__h5_filter_make(level);
  if (!tables->filter) return 0;
  for (uint32_t column = 0; column < DFT__H5_COLUMNS; column++) {
    const dft__h5_column_info *info = &dft__h5_columns[column];
    if (info->is_job && !is_job) continue;
    tables->data[column] = calloc(DFT__H5_ROWS, info->size); /* pages that are not touched cost nothing */
    if (!tables->data[column]) return 0;
  }
  return 1;
}

void dft__h5_tables_free(dft__h5_tables *tables) {
  for (uint32_t column = 0; column < DFT__H5_COLUMNS; column++) free(tables->data[column]);
  dft__h5_filter_free(tables->filter);
}

/* ---- Writing ------------------------------------------------------------------------------------------------------ */

static int put_chunk(dft__h5_tables *tables, uint32_t column, uint64_t number) {
  size_t size = dft__h5_columns[column].size;
  size_t room = dft__h5_filter_bound(size);
  uint8_t *out = dft__h5_segment_reserve(tables->segment, room);
  size_t bytes = out ? dft__h5_filter_pack(tables->filter, tables->data[column], size, out, room) : 0;
  dft__h5_record record = {
    .kind = DFT__H5_CHUNK, .what = column, .count = DFT__H5_ROWS, .first = number, .bytes = bytes};
  if (bytes) dft__h5_segment_put(tables->segment, &record);
  return bytes != 0;
}

void dft__h5_tables_chunk(dft__h5_tables *tables, uint32_t table) {
  EACH_COLUMN(column, tables, table) {
    if (!tables->has_failed && !put_chunk(tables, column, tables->rows[table] - DFT__H5_ROWS)) tables->has_failed = 1;
  }
  tables->saved[table] = tables->rows[table];
  if (!tables->has_failed && dft__h5_segment_flush(tables->segment, 1u << 20) != DFT_OK) tables->has_failed = 1;
}

static int put_tail(dft__h5_tables *tables, uint32_t table) {
  uint64_t first = tables->saved[table];
  size_t count = (size_t)(tables->rows[table] - first);
  size_t columns = 0;
  uint8_t *start, *end;
  dft__h5_record record = {.kind = DFT__H5_TAIL, .what = table, .count = (uint32_t)count, .first = first};
  uint64_t offset;
  if (!count) return 1;
  EACH_COLUMN(column, tables, table) columns++;
  start = end = dft__h5_segment_reserve(tables->segment, columns * count * DFT__H5_DELTA_MOST + 1);
  if (!start) return 0;
  *end++ = DFT__H5_TAIL_MARK;
  EACH_COLUMN(column, tables, table) {
    const dft__h5_column_info *info = &dft__h5_columns[column];
    const char *values = (const char *)tables->data[column] + first % DFT__H5_ROWS * info->size;
    end = dft__h5_delta_put(end, info->type, values, count);
  }
  record.bytes = (uint64_t)(end - start);
  offset = dft__h5_segment_put(tables->segment, &record);
  tables->saved[table] = tables->rows[table];
  if (record.bytes >= DFT__H5_TAIL_LEAST && tables->tail_count < DFT__H5_TAILS) {
    tables->tails[tables->tail_count++] = (struct dft__h5_tail_place){offset, record.bytes, tables->rows[table], table};
  }
  return 1;
}

int dft__h5_tables_save(dft__h5_tables *tables) {
  for (uint32_t table = 0; table < DFT__H5_TABLES && !tables->has_failed; table++) {
    if (!put_tail(tables, table)) tables->has_failed = 1;
  }
  return !tables->has_failed;
}

void dft__h5_tables_tidy(dft__h5_tables *tables) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < tables->tail_count; i++) {
    struct dft__h5_tail_place *tail = &tables->tails[i];
    uint64_t in_chunks = tables->rows[tail->table] - tables->rows[tail->table] % DFT__H5_ROWS;
    if (tail->last_row <= in_chunks) dft__h5_segment_punch(tables->segment, tail->offset, tail->bytes);
    else tables->tails[kept++] = *tail;
  }
  tables->tail_count = kept;
}

/* ---- The way back ------------------------------------------------------------------------------------------------- */

/* The chunks of a table's columns follow each other; the first of them says how many rows there are. */
int dft__h5_tables_take_chunk(dft__h5_tables *tables, const dft__h5_record *record) {
  uint32_t table;
  if (record->what >= DFT__H5_COLUMNS || !tables->data[record->what] || record->count != DFT__H5_ROWS) return 0;
  table = dft__h5_columns[record->what].table;
  if (record->first == tables->rows[table]) tables->rows[table] += DFT__H5_ROWS;
  tables->saved[table] = tables->rows[table];
  return record->first + DFT__H5_ROWS == tables->rows[table];
}

/* A process that lives may give the storage back at this moment. The front goes first, so the mark is read last. */
static const uint8_t *read_tail(dft__h5_walk *walk, uint8_t *bytes) {
  uint64_t len = walk->record.bytes;
  int is_read = len && dft__h5_walk_read(walk, bytes, len);
  walk->record.bytes = 1;
  is_read = is_read && dft__h5_walk_read(walk, bytes, 1);
  walk->record.bytes = len;
  return is_read && *bytes == DFT__H5_TAIL_MARK ? bytes + 1 : NULL;
}

int dft__h5_tables_take_tail(dft__h5_tables *tables, dft__h5_walk *walk) {
  const dft__h5_record *record = &walk->record;
  uint32_t table = record->what;
  uint64_t place = record->first % DFT__H5_ROWS;
  uint8_t *bytes;
  const uint8_t *at;
  if (table >= DFT__H5_TABLES || !record->count || place + record->count > DFT__H5_ROWS) return 0;
  if (record->first < tables->rows[table]) return record->first + record->count <= tables->rows[table];
  if (record->first != tables->rows[table]) return 0;
  if (record->bytes > (uint64_t)record->count * DFT__H5_DELTA_MOST * DFT__H5_COLUMNS) return 0;
  bytes = malloc(record->bytes + 1);
  at = bytes ? read_tail(walk, bytes) : NULL;
  EACH_COLUMN(column, tables, table) {
    const dft__h5_column_info *info = &dft__h5_columns[column];
    if (at) {
      at = dft__h5_delta_get(at, bytes + record->bytes, info->type, (char *)tables->data[column] + place * info->size,
                             record->count);
    }
  }
  tables->rows[table] += at ? record->count : 0;
  tables->saved[table] = tables->rows[table];
  free(bytes);
  return at != NULL;
}
