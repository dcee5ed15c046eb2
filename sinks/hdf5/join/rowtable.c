/* rowtable.c - layout=table: each table as one data set of compound rows, with the attributes of H5TB, by which PyTables
 * and others know a table. Names, categories and keys stand in the rows as texts; texts of arguments stay columns.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "h5.h"

#define FIELDS_MOST 16
#define CHUNK_ROWS 2048 /* about 200 KiB: below HDF5's cache for chunks */

typedef struct row_table {
  hid_t data_set;
  hid_t type; /* of a row, or of the only value */
  int is_plain;
  uint32_t field_count;
  uint32_t gathered; /* columns of the rows in hand */
  struct field {
    uint32_t column;
    size_t offset, size;
  } fields[FIELDS_MOST];
  size_t row_bytes;
  uint8_t *rows; /* DFT__H5_ROWS of them */
} row_table;

typedef struct writer {
  job *own;
  row_table tables[DFT__H5_TABLES];
  char *names;
  size_t name_width;
  uint8_t *packed, *values; /* of one chunk */
  size_t room;
} writer;

/* Columns that refer to /names. */
static int is_name(uint32_t column) {
  const char *name = dft__h5_columns[column].name;
  return strcmp(name, "name") == 0 || strcmp(name, "cat") == 0 || strcmp(name, "key") == 0;
}

/* ---- Making ------------------------------------------------------------------------------------------------------- */

static void describe_as_table(const row_table *table, const char *title) {
  describe_text(table->data_set, "CLASS", "TABLE");
  describe_text(table->data_set, "VERSION", "3.0");
  describe_text(table->data_set, "TITLE", title);
  for (uint32_t i = 0; i < table->field_count; i++) {
    char attribute[32];
    snprintf(attribute, sizeof attribute, "FIELD_%u_NAME", i);
    describe_text(table->data_set, attribute, dft__h5_columns[table->fields[i].column].name);
  }
}

static void add_field(writer *to, row_table *table, uint32_t column) {
  struct field *field = &table->fields[table->field_count++];
  field->column = column;
  field->offset = table->row_bytes;
  field->size = is_name(column) ? to->name_width : dft__h5_columns[column].size;
  table->row_bytes += field->size;
}

static hid_t row_type(const writer *to, const row_table *table) {
  hid_t type = need(H5Tcreate(H5T_COMPOUND, table->row_bytes), "type of a row");
  for (uint32_t i = 0; i < table->field_count; i++) {
    const struct field *field = &table->fields[i];
    const dft__h5_column_info *info = &dft__h5_columns[field->column];
    hid_t of_field = is_name(field->column) ? text_type(to->name_width)
                                            : need(H5Tcopy(type_in_file(info->type)), "type");
    need(H5Tinsert(type, info->name, field->offset, of_field), "type of a row");
    H5Tclose(of_field);
  }
  return type;
}

static void make_table(writer *to, uint32_t number) {
  row_table *table = &to->tables[number];
  const char *path = dft__h5_groups[number];
  uint64_t rows = to->own->tables.rows[number];
  int level = to->own->head.level;
  for (uint32_t column = 0; column < DFT__H5_COLUMNS; column++) {
    if (dft__h5_columns[column].table == number && to->own->tables.data[column]) add_field(to, table, column);
  }
  table->is_plain = table->field_count == 1;
  if (table->is_plain) {
    const dft__h5_column_info *info = &dft__h5_columns[table->fields[0].column];
    hid_t group = make_group(to->own->file, path);
    table->type = need(H5Tcopy(type_in_file(info->type)), "type");
    table->data_set = make_column(group, info->name, table->type, rows, DFT__H5_ROWS, level);
    H5Gclose(group);
  } else {
    if (strchr(path, '/')) H5Gclose(make_group(to->own->file, "args"));
    table->type = row_type(to, table);
    table->data_set = make_column(to->own->file, path, table->type, rows, CHUNK_ROWS, level);
    describe_as_table(table, dft__h5_summaries[number]);
  }
  table->rows = need_memory(calloc(DFT__H5_ROWS, table->row_bytes));
}

/* ---- Filling ------------------------------------------------------------------------------------------------------ */

static void write_rows(const row_table *table, uint64_t first, size_t rows, const void *values) {
  hsize_t start[1] = {first};
  hsize_t count[1] = {rows};
  hid_t memory = need(H5Screate_simple(1, count, NULL), "rows");
  hid_t space = need(H5Dget_space(table->data_set), "rows");
  need(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL), "rows");
  need(H5Dwrite(table->data_set, table->type, memory, space, H5P_DEFAULT, values), "rows");
  H5Sclose(memory);
  H5Sclose(space);
}

static void spread(const writer *to, const row_table *table, const struct field *field, const uint8_t *values,
                   size_t rows) {
  size_t size = dft__h5_columns[field->column].size;
  int is_text = is_name(field->column);
  for (size_t i = 0; i < rows; i++) {
    const void *from = values + i * size;
    uint32_t row = 0;
    if (is_text) memcpy(&row, from, sizeof row);
    if (is_text && row >= to->own->name_count) fail("%s is damaged: a name is missing", to->own->from);
    memcpy(table->rows + i * table->row_bytes + field->offset, is_text ? to->names + row * field->size : from,
           field->size);
  }
}

/* The columns of a table come one after the other; with the last of them the rows are whole. */
static void put(writer *to, uint32_t column, uint64_t first, size_t rows, const void *values) {
  row_table *table = &to->tables[dft__h5_columns[column].table];
  if (table->is_plain) {
    write_rows(table, first, rows, values);
    return;
  }
  if (table->fields[table->gathered].column != column) fail("%s is damaged: columns", to->own->from);
  spread(to, table, &table->fields[table->gathered], values, rows);
  if (++table->gathered < table->field_count) return;
  table->gathered = 0;
  write_rows(table, first, rows, table->rows);
}

static void put_all(writer *to) {
  job *own = to->own;
  own->walk.next = 0;
  while (dft__h5_walk_next(&own->walk) > 0) {
    const dft__h5_record *record = &own->walk.record;
    if (record->kind != DFT__H5_CHUNK) continue;
    if (!dft__h5_walk_read(&own->walk, to->packed, to->room)) fail("%s cannot be read", own->from);
    if (record->what == DFT__H5_EVENTS_rank) fill_ranks(own, to->values);
    else unpack_chunk(own, to->packed, record->bytes, dft__h5_columns[record->what].size, to->values);
    put(to, record->what, record->first, DFT__H5_ROWS, to->values);
  }
  for (uint32_t column = 0; column < DFT__H5_COLUMNS; column++) {
    uint64_t rows = own->tables.rows[dft__h5_columns[column].table];
    size_t rest = (size_t)(rows % DFT__H5_ROWS);
    if (own->tables.data[column] && rest) put(to, column, rows - rest, rest, own->tables.data[column]);
  }
}

void write_tables(job *own) {
  writer to = {.own = own, .room = dft__h5_filter_bound(8), .name_width = own->name_width ? own->name_width : 1};
  to.names = need_memory(malloc((size_t)(own->name_count + 1) * to.name_width));
  to.packed = need_memory(malloc(to.room));
  to.values = need_memory(malloc((size_t)DFT__H5_ROWS * 8));
  read_names(own, 0, own->name_count, to.name_width, to.names);
  for (uint32_t i = 0; i < DFT__H5_TABLES; i++) make_table(&to, i);
  put_all(&to);
  for (uint32_t i = 0; i < DFT__H5_TABLES; i++) {
    need(H5Tclose(to.tables[i].type), "type");
    need(H5Dclose(to.tables[i].data_set), "table");
    free(to.tables[i].rows);
  }
  free(to.names);
  free(to.packed);
  free(to.values);
}
