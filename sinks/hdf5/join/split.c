/* split.c - the way back: an HDF5 file of one process as a segment file, from which the library merges it with others.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "h5.h"

static void read_rows(hid_t data_set, hid_t type, uint64_t first, uint64_t count, void *into) {
  hsize_t start[1] = {first};
  hsize_t rows[1] = {count};
  hid_t memory = need(H5Screate_simple(1, rows, NULL), "rows");
  hid_t space = need(H5Dget_space(data_set), "rows");
  need(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, rows, NULL), "rows");
  need(H5Dread(data_set, type, memory, space, H5P_DEFAULT, into), "rows");
  H5Sclose(memory);
  H5Sclose(space);
}

static void split_table(hid_t file, dft__h5_tables *tables, uint32_t table, uint64_t rows) {
  hid_t data_sets[DFT__H5_COLUMNS];
  for (uint32_t column = 0; column < DFT__H5_COLUMNS; column++) {
    char path[64];
    path_of(path, sizeof path, column);
    if (dft__h5_columns[column].table == table && tables->data[column])
      data_sets[column] = need(H5Dopen2(file, path, H5P_DEFAULT), path);
  }
  for (uint64_t first = 0; first < rows; first += DFT__H5_ROWS) {
    uint64_t count = rows - first < DFT__H5_ROWS ? rows - first : DFT__H5_ROWS;
    for (uint32_t column = 0; column < DFT__H5_COLUMNS; column++) {
      const dft__h5_column_info *info = &dft__h5_columns[column];
      if (info->table == table && tables->data[column])
        read_rows(data_sets[column], type_in_memory(info->type), first, count, tables->data[column]);
    }
    tables->rows[table] += count;
    if (count == DFT__H5_ROWS) dft__h5_tables_chunk(tables, table);
  }
  for (uint32_t column = 0; column < DFT__H5_COLUMNS; column++) {
    if (dft__h5_columns[column].table == table && tables->data[column]) H5Dclose(data_sets[column]);
  }
}

static void put(dft__h5_segment *segment, dft__h5_record record, const void *bytes) {
  memcpy(need_memory(dft__h5_segment_reserve(segment, record.bytes)), bytes, record.bytes);
  dft__h5_segment_put(segment, &record);
}

/* A record each: length and bytes, without the zeros and the ETX that the file has behind them. */
static void split_names(hid_t file, dft__h5_segment *segment, const part *from) {
  hid_t data_set = need(H5Dopen2(file, "names", H5P_DEFAULT), "names");
  hid_t type = text_type(from->name_width);
  uint8_t *name = need_memory(malloc(sizeof(uint32_t) + from->name_width));
  for (uint64_t row = 0; row < from->names; row++) {
    uint32_t len = (uint32_t)from->name_width;
    read_rows(data_set, type, row, 1, name + sizeof len);
    while (len && !name[sizeof len + len - 1]) len--;
    if (len && name[sizeof len + len - 1] == NAME_END) len--;
    memcpy(name, &len, sizeof len);
    put(segment, (dft__h5_record){.kind = DFT__H5_NAMES, .count = 1, .first = row, .bytes = sizeof len + len}, name);
  }
  free(name);
  H5Tclose(type);
  H5Dclose(data_set);
}

void split(const char *path, const char *to) {
  part from = {.path = path};
  dft__h5_head head = {.schema = DFT__H5_SCHEMA, .level = 1};
  dft__h5_segment segment;
  dft__h5_tables tables;
  hid_t file;
  look_at(&from, "");
  if (dft__h5_segment_begin(to, 0) != DFT_OK) fail("%s cannot be made", to);
  remove_on_failure(to);
  if (!dft__h5_segment_open(&segment, to, 0) || !dft__h5_tables_make(&tables, &segment, head.level, 0))
    fail("no memory");
  put(&segment, (dft__h5_record){.kind = DFT__H5_HEAD, .bytes = sizeof head}, &head);
  put(&segment, (dft__h5_record){.kind = DFT__H5_PROCESS, .bytes = sizeof from.process}, &from.process);
  file = need(H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), path);
  split_names(file, &segment, &from);
  for (uint32_t table = 0; table < DFT__H5_TABLES; table++) split_table(file, &tables, table, from.rows[table]);
  need(H5Fclose(file), path);
  if (!dft__h5_tables_save(&tables) || dft__h5_segment_flush(&segment, 0) != DFT_OK)
    fail("%s: %s", to, segment.status == DFT_ENOSPC ? "No space left on device" : "it cannot be written");
  dft__h5_tables_free(&tables);
  dft__h5_segment_close(&segment);
}
