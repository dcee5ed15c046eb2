/* virtual.c - many files of one process each as one: virtual data sets, which refer to theirs. Names and /processes are
 * copied, because numbers in a file count from the start of its own tables; /processes says where those begin here.
 * SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "h5.h"

static uint64_t rows_of(hid_t file, const char *name) {
  hsize_t dims[1] = {0};
  hid_t data_set = need(H5Dopen2(file, name, H5P_DEFAULT), name);
  hid_t space = need(H5Dget_space(data_set), name);
  if (H5Sget_simple_extent_ndims(space) == 1) H5Sget_simple_extent_dims(space, dims, NULL);
  H5Sclose(space);
  H5Dclose(data_set);
  return dims[0];
}

void path_of(char *path, size_t size, uint32_t column) {
  snprintf(path, size, "%s/%s", dft__h5_groups[dft__h5_columns[column].table], dft__h5_columns[column].name);
}

/* ---- Looking at the files ----------------------------------------------------------------------------------------- */

static void read_first(hid_t file, const char *name, hid_t type, void *into) {
  hid_t data_set = need(H5Dopen2(file, name, H5P_DEFAULT), name);
  need(H5Dread(data_set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, into), name);
  H5Dclose(data_set);
}

static void read_text(hid_t file, const char *name, char *into, size_t size) {
  hid_t type = text_type(size);
  read_first(file, name, type, into);
  into[size - 1] = '\0';
  H5Tclose(type);
}

static void read_unit(hid_t file, dft__h5_process *process) {
  hid_t type = text_type(sizeof process->unit);
  hid_t attribute = need(H5Aopen(file, "time_unit", H5P_DEFAULT), "time_unit");
  need(H5Aread(attribute, type, process->unit), "time_unit");
  process->unit[sizeof process->unit - 1] = '\0';
  H5Aclose(attribute);
  H5Tclose(type);
}

void look_at(part *own, const char *folder) {
  hid_t file = need(H5Fopen(own->path, H5F_ACC_RDONLY, H5P_DEFAULT), own->path);
  hid_t names, type;
  char absolute[PATH_MAX + 1];
  size_t len = strlen(folder);
  if (H5Lexists(file, "events", H5P_DEFAULT) <= 0 || H5Lexists(file, "events/ts", H5P_DEFAULT) <= 0 ||
      H5Lexists(file, "processes", H5P_DEFAULT) <= 0 || rows_of(file, "processes/pid") != 1)
    fail("%s: only files of one process, in the layout `columns`, can be put together", own->path);
  for (uint32_t column = 0; column < DFT__H5_COLUMNS; column++) {
    char path[64];
    path_of(path, sizeof path, column);
    if (!dft__h5_columns[column].is_job) own->rows[dft__h5_columns[column].table] = rows_of(file, path);
  }
  own->names = rows_of(file, "names");
  names = need(H5Dopen2(file, "names", H5P_DEFAULT), "names");
  type = need(H5Dget_type(names), "names");
  own->name_width = H5Tget_size(type);
  H5Tclose(type);
  H5Dclose(names);
  read_first(file, "processes/pid", H5T_NATIVE_UINT32, &own->process.pid);
  read_first(file, "processes/rank", H5T_NATIVE_INT32, &own->process.rank);
  read_text(file, "processes/host", own->process.host, sizeof own->process.host);
  read_text(file, "processes/host_hash", own->process.host_hash, sizeof own->process.host_hash);
  read_unit(file, &own->process);
  need(H5Fclose(file), own->path);
  if (!realpath(own->path, absolute)) fail("%s cannot be found", own->path);
  if (strncmp(absolute, folder, len) == 0 && absolute[len] == '/')
    snprintf(own->shown, sizeof own->shown, "%s", absolute + len + 1);
  else snprintf(own->shown, sizeof own->shown, "%s", absolute);
  snprintf(own->process.source, sizeof own->process.source, "%.255s", own->shown);
}

/* ---- Making the new one ------------------------------------------------------------------------------------------- */

static uint64_t total(const part *parts, int count, uint32_t table) {
  uint64_t rows = 0;
  for (int i = 0; i < count; i++) rows += parts[i].rows[table];
  return rows;
}

static void make_virtual(hid_t file, const part *parts, int count, uint32_t column) {
  const dft__h5_column_info *info = &dft__h5_columns[column];
  hsize_t all[1] = {total(parts, count, info->table)};
  hsize_t start[1] = {0};
  char path[64];
  hid_t space = need(H5Screate_simple(1, all, NULL), info->name);
  hid_t how = need(H5Pcreate(H5P_DATASET_CREATE), info->name);
  hid_t group = make_group(file, dft__h5_groups[info->table]);
  hid_t data_set;
  path_of(path, sizeof path, column);
  for (int i = 0; i < count; i++) {
    hsize_t rows[1] = {parts[i].rows[info->table]};
    hid_t source;
    if (!rows[0]) continue;
    source = need(H5Screate_simple(1, rows, NULL), info->name);
    need(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, rows, NULL), info->name);
    need(H5Pset_virtual(how, space, parts[i].shown, path, source), info->name);
    H5Sclose(source);
    start[0] += rows[0];
  }
  H5Sselect_all(space);
  data_set = need(H5Dcreate2(group, info->name, type_in_file(info->type), space, H5P_DEFAULT, how, H5P_DEFAULT), path);
  if (info->summary[0]) describe_text(data_set, "description", info->summary);
  if (strcmp(info->unit, "time") == 0) describe_text(data_set, "unit", parts[0].process.unit);
  describe_table(group, info->table, all[0]);
  need(H5Dclose(data_set), path);
  H5Gclose(group);
  H5Pclose(how);
  H5Sclose(space);
}

/* A column of the new file itself, in which a process's rows all have one value. */
static void make_constant(hid_t file, const part *parts, int count, uint32_t column) {
  const dft__h5_column_info *info = &dft__h5_columns[column];
  hid_t group = make_group(file, "events");
  hid_t data_set = make_column(group, info->name, type_in_file(info->type), total(parts, count, DFT__H5_EVENTS),
                               DFT__H5_ROWS, 1);
  hsize_t start[1] = {0};
  hid_t space = need(H5Dget_space(data_set), info->name);
  int32_t values[DFT__H5_ROWS];
  for (int i = 0; i < count; i++) {
    int32_t value = column == DFT__H5_EVENTS_rank ? parts[i].process.rank : i;
    for (size_t k = 0; k < DFT__H5_ROWS; k++) values[k] = value;
    for (uint64_t left = parts[i].rows[DFT__H5_EVENTS]; left;) {
      hsize_t rows[1] = {left < DFT__H5_ROWS ? left : DFT__H5_ROWS};
      hid_t memory = need(H5Screate_simple(1, rows, NULL), info->name);
      need(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, rows, NULL), info->name);
      need(H5Dwrite(data_set, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, values), info->name);
      H5Sclose(memory);
      start[0] += rows[0];
      left -= rows[0];
    }
  }
  describe_text(data_set, "description", info->summary);
  H5Sclose(space);
  need(H5Dclose(data_set), info->name);
  H5Gclose(group);
}

/* Each in `width` bytes. HDF5's own conversion would cut names at a zero byte. */
static char *read_all_names(const part *from, size_t width) {
  hid_t file = need(H5Fopen(from->path, H5F_ACC_RDONLY, H5P_DEFAULT), from->path);
  hid_t type = text_type(from->name_width);
  char *narrow = need_memory(malloc((size_t)from->names * from->name_width + 1));
  char *texts = need_memory(calloc((size_t)from->names + 1, width));
  read_first(file, "names", type, narrow);
  for (uint64_t i = 0; i < from->names; i++) memcpy(texts + i * width, narrow + i * from->name_width, from->name_width);
  free(narrow);
  H5Tclose(type);
  need(H5Fclose(file), from->path);
  return texts;
}

static void copy_names(hid_t file, const part *parts, int count) {
  size_t width = 1;
  uint64_t all = 0;
  hsize_t start[1] = {0};
  hid_t type, data_set, space;
  for (int i = 0; i < count; i++) {
    all += parts[i].names;
    if (parts[i].name_width > width) width = parts[i].name_width;
  }
  type = text_type(width);
  data_set = make_column(file, "names", type, all, 256, 1);
  space = need(H5Dget_space(data_set), "names");
  describe_text(data_set, "description", "names of one file after the other; see /processes/names_first");
  for (int i = 0; i < count; i++) {
    hsize_t rows[1] = {parts[i].names};
    char *texts = read_all_names(&parts[i], width);
    hid_t memory = need(H5Screate_simple(1, rows, NULL), "names");
    need(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, rows, NULL), "names");
    need(H5Dwrite(data_set, type, memory, space, H5P_DEFAULT, texts), "names");
    H5Sclose(memory);
    free(texts);
    start[0] += rows[0];
  }
  H5Sclose(space);
  H5Tclose(type);
  need(H5Dclose(data_set), "names");
}

/* Where a file's rows begin in the tables of the new one: NAME_first. */
static void write_first(hid_t group, const part *parts, int count, const char *name, int table) {
  hid_t data_set = make_column(group, name, H5T_STD_U64LE, (uint64_t)count, 1024, 1);
  uint64_t *first = need_memory(calloc((size_t)count, sizeof first[0]));
  for (int i = 1; i < count; i++) first[i] = first[i - 1] + (table < 0 ? parts[i - 1].names : parts[i - 1].rows[table]);
  describe_text(data_set, "description", "to be added to the file's own row numbers");
  need(H5Dwrite(data_set, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, first), name);
  need(H5Dclose(data_set), name);
  free(first);
}

static void write_firsts(hid_t file, const part *parts, int count) {
  static const char *const names[DFT__H5_TABLES] = {"events_first", "int_first",    "uint_first",  "double_first",
                                                    "bool_first",   "string_first", "texts_first", "bytes_first"};
  hid_t group = make_group(file, "processes");
  write_first(group, parts, count, "names_first", -1);
  for (int i = 0; i < DFT__H5_TABLES; i++) write_first(group, parts, count, names[i], i);
  H5Gclose(group);
}

void write_virtual(const char *to, char *const *files, int count) {
  part *parts = need_memory(calloc((size_t)count, sizeof parts[0]));
  job own = {.to = to, .head = {.is_job = 1, .level = 1}, .process_count = (uint32_t)count};
  char folder[PATH_MAX + 1];
  char given[PATH_MAX + 1];
  const char *slash = strrchr(to, '/');
  snprintf(given, sizeof given, "%.*s", slash ? (int)(slash - to) + (slash == to) : 1, slash ? to : ".");
  if (!realpath(given, folder)) fail("%s cannot be found", given);
  own.processes = need_memory(calloc((size_t)count, sizeof own.processes[0]));
  for (int i = 0; i < count; i++) {
    parts[i].path = files[i];
    look_at(&parts[i], folder);
    own.processes[i] = parts[i].process;
    if (strcmp(parts[i].process.unit, parts[0].process.unit) != 0)
      fail("%s has other units of time than %s", files[i], files[0]);
  }
  own.file = need(H5Fcreate(to, H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT), to);
  remove_on_failure(to);
  own.tables.rows[DFT__H5_EVENTS] = total(parts, count, DFT__H5_EVENTS);
  own.layout = "virtual";
  write_facts(&own);
  for (uint32_t column = 0; column < DFT__H5_COLUMNS; column++) {
    if (dft__h5_columns[column].is_job) make_constant(own.file, parts, count, column);
    else make_virtual(own.file, parts, count, column);
  }
  copy_names(own.file, parts, count);
  write_processes(&own);
  write_firsts(own.file, parts, count);
  need(H5Fclose(own.file), to);
  free(own.processes);
  free(parts);
}
