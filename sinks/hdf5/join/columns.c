/* columns.c - layout=columns: one data set a column, its chunks copied from the segment file as they are.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "h5.h"

static void write_chunk(hid_t data_set, uint64_t first_row, const void *bytes, size_t len) {
  hsize_t offset[1] = {first_row};
  need(H5Dwrite_chunk(data_set, H5P_DEFAULT, 0, offset, len, bytes), "chunk");
}

void unpack_chunk(const job *own, const uint8_t *packed, size_t len, size_t size, void *values) {
  if (!dft__h5_filter_unpack(own->tables.filter, packed, len, size, values)) fail("%s is damaged: a chunk", own->from);
}

void fill_ranks(const job *own, void *values) {
  uint32_t *process = values;
  for (size_t i = 0; i < DFT__H5_ROWS; i++) {
    int32_t rank = process[i] < own->process_count ? own->processes[process[i]].rank : -1;
    memcpy(&process[i], &rank, sizeof rank);
  }
}

/* The rows that fill no chunk, with zeros behind them. */
static void write_rest(job *own, const hid_t *data_sets) {
  size_t room = dft__h5_filter_bound(8);
  uint8_t *packed = need_memory(malloc(room));
  for (uint32_t column = 0; column < DFT__H5_COLUMNS; column++) {
    const dft__h5_column_info *info = &dft__h5_columns[column];
    uint64_t rows = own->tables.rows[info->table];
    size_t rest = (size_t)(rows % DFT__H5_ROWS);
    size_t len;
    char *values = own->tables.data[column];
    if (!values || !rest) continue;
    memset(values + rest * info->size, 0, (DFT__H5_ROWS - rest) * info->size);
    len = dft__h5_filter_pack(own->tables.filter, values, info->size, packed, room);
    if (!len) fail("a chunk cannot be compressed");
    write_chunk(data_sets[column], rows - rest, packed, len);
  }
  free(packed);
}

/* A chunk of `process` gives that of `rank`. */
static void write_ranks(job *own, const uint8_t *packed, size_t len, uint64_t first_row, hid_t data_set) {
  size_t room = dft__h5_filter_bound(4);
  uint8_t *values = need_memory(malloc((size_t)DFT__H5_ROWS * 4));
  uint8_t *out = need_memory(malloc(room));
  unpack_chunk(own, packed, len, 4, values);
  fill_ranks(own, values);
  len = dft__h5_filter_pack(own->tables.filter, values, 4, out, room);
  if (!len) fail("a chunk cannot be compressed");
  write_chunk(data_set, first_row, out, len);
  free(values);
  free(out);
}

static void copy_chunks(job *own, const hid_t *data_sets) {
  size_t room = dft__h5_filter_bound(8);
  uint8_t *bytes = need_memory(malloc(room));
  own->walk.next = 0;
  while (dft__h5_walk_next(&own->walk) > 0) {
    const dft__h5_record *record = &own->walk.record;
    if (record->kind != DFT__H5_CHUNK || record->what == DFT__H5_EVENTS_rank) continue;
    if (!dft__h5_walk_read(&own->walk, bytes, room)) fail("%s cannot be read", own->from);
    write_chunk(data_sets[record->what], record->first, bytes, record->bytes);
    if (record->what == DFT__H5_EVENTS_process)
      write_ranks(own, bytes, record->bytes, record->first, data_sets[DFT__H5_EVENTS_rank]);
  }
  free(bytes);
}

void describe_table(hid_t group, uint32_t table, uint64_t rows) {
  if (H5Aexists(group, "description") > 0) return;
  describe_text(group, "description", dft__h5_summaries[table]);
  describe_number(group, "rows", (int64_t)rows);
}

void write_columns(job *own) {
  hid_t data_sets[DFT__H5_COLUMNS];
  for (uint32_t column = 0; column < DFT__H5_COLUMNS; column++) {
    const dft__h5_column_info *info = &dft__h5_columns[column];
    hid_t group;
    if (!own->tables.data[column]) continue;
    group = make_group(own->file, dft__h5_groups[info->table]);
    data_sets[column] = make_column(group, info->name, type_in_file(info->type), own->tables.rows[info->table],
                                    DFT__H5_ROWS, own->head.level);
    if (info->summary[0]) describe_text(data_sets[column], "description", info->summary);
    if (strcmp(info->unit, "time") == 0) describe_text(data_sets[column], "unit", own->processes[0].unit);
    describe_table(group, info->table, own->tables.rows[info->table]);
    H5Gclose(group);
  }
  copy_chunks(own, data_sets);
  write_rest(own, data_sets);
  for (uint32_t column = 0; column < DFT__H5_COLUMNS; column++) {
    if (own->tables.data[column]) need(H5Dclose(data_sets[column]), "column");
  }
}
