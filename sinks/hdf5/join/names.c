/* names.c - /names, /processes, and the attributes of a file: what its columns refer to.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "h5.h"

#define BLOCK_BYTES ((size_t)1 << 20)

/* ---- Names -------------------------------------------------------------------------------------------------------- */

size_t name_bytes(const uint8_t *name, uint32_t len) {
  return len + (size_t)(len && (name[len - 1] == '\0' || name[len - 1] == NAME_END));
}

/* Fills `width` bytes, as name_bytes wants it. */
static void put_name(char *into, size_t width, const uint8_t *name, uint32_t len) {
  size_t bytes = name_bytes(name, len);
  if (bytes > width) fail("names are longer than they were");
  memcpy(into, name, len);
  if (bytes > len) into[len] = NAME_END;
}

void read_names(job *own, uint64_t first, uint64_t most, size_t width, char *into) {
  uint64_t row = 0;
  own->walk.next = 0;
  memset(into, 0, (size_t)most * width);
  while (row < first + most && dft__h5_walk_next(&own->walk) > 0) {
    const dft__h5_record *record = &own->walk.record;
    uint8_t *bytes;
    size_t at = 0;
    if (record->kind != DFT__H5_NAMES) continue;
    bytes = need_memory(malloc(record->bytes + 1));
    if (!dft__h5_walk_read(&own->walk, bytes, record->bytes)) fail("%s cannot be read", own->from);
    for (uint32_t i = 0; i < record->count && row < first + most; i++, row++) {
      uint32_t len; /* checked when the file was first walked over */
      memcpy(&len, bytes + at, sizeof len);
      at += sizeof len;
      if (row >= first) put_name(into + (size_t)(row - first) * width, width, bytes + at, len);
      at += len;
    }
    free(bytes);
  }
}

/* A column of texts; rows are asked for in blocks. */
static void write_texts(hid_t data_set, hid_t type, uint64_t first, uint64_t rows, const char *texts) {
  hsize_t start[1] = {first};
  hsize_t count[1] = {rows};
  hid_t memory = need(H5Screate_simple(1, count, NULL), "texts");
  hid_t space = need(H5Dget_space(data_set), "texts");
  need(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL), "texts");
  need(H5Dwrite(data_set, type, memory, space, H5P_DEFAULT, texts), "texts");
  H5Sclose(memory);
  H5Sclose(space);
}

void write_names(job *own) {
  size_t width = own->name_width ? own->name_width : 1;
  uint64_t block = BLOCK_BYTES / width ? BLOCK_BYTES / width : 1;
  hid_t type = text_type(width);
  hid_t data_set;
  char *texts;
  if (block > 4096) block = 4096;
  data_set = make_column(own->file, "names", type, own->name_count, block, own->head.level);
  describe_text(data_set, "description", "names, categories and keys; columns refer to them by row");
  texts = need_memory(malloc((size_t)block * width));
  for (uint64_t first = 0; first < own->name_count; first += block) {
    uint64_t rows = own->name_count - first < block ? own->name_count - first : block;
    read_names(own, first, rows, width, texts);
    write_texts(data_set, type, first, rows, texts);
  }
  free(texts);
  H5Tclose(type);
  need(H5Dclose(data_set), "names");
}

/* ---- Processes ---------------------------------------------------------------------------------------------------- */

typedef struct column {
  const char *name;
  const char *summary;
  hid_t type;
  size_t offset, width;
} column;

static void write_process_column(const job *own, hid_t group, const column *what) {
  uint32_t count = own->process_count;
  char *values = need_memory(calloc(count, what->width));
  hid_t data_set = make_column(group, what->name, what->type, count, 1024, own->head.level);
  hid_t type = H5Tget_class(what->type) == H5T_STRING ? what->type : H5T_NATIVE_INT32;
  for (uint32_t i = 0; i < count; i++)
    memcpy(values + i * what->width, (const char *)&own->processes[i] + what->offset, what->width);
  describe_text(data_set, "description", what->summary);
  need(H5Dwrite(data_set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), what->name);
  need(H5Dclose(data_set), what->name);
  free(values);
}

void write_processes(job *own) {
  hid_t group = make_group(own->file, "processes");
#define NUMBER(field, summary) {#field, summary, H5T_STD_I32LE, offsetof(dft__h5_process, field), 4}
#define WORDS(field, summary)                                                                     \
  {                                                                                               \
#field, summary, text_type(sizeof own->processes[0].field), offsetof(dft__h5_process, field), \
      sizeof own->processes[0].field                                                              \
  }
  column columns[] = {
    NUMBER(pid, "process id"),
    NUMBER(rank, "rank, -1: unknown"),
    WORDS(host, "name of the host"),
    WORDS(host_hash, "its hash: args.hhash of the JSON lines"),
    WORDS(source, "the file it was converted from; empty: recorded"),
  };
  describe_text(group, "description", "one row per process");
  describe_number(group, "rows", own->process_count);
  for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) write_process_column(own, group, &columns[i]);
  H5Gclose(group);
}

/* ---- Facts -------------------------------------------------------------------------------------------------------- */

void write_facts(job *own) {
  const dft__h5_process *first = &own->processes[0];
  describe_text(own->file, "format", "dftracer");
  describe_number(own->file, "schema", DFT__H5_SCHEMA);
  describe_text(own->file, "version", DFT_VERSION);
  describe_text(own->file, "layout", own->layout);
  describe_number(own->file, "events", (int64_t)own->tables.rows[DFT__H5_EVENTS]);
  describe_number(own->file, "processes", own->process_count);
  describe_text(own->file, "time_unit", first->unit);
  describe_text(own->file, "clock", "since the epoch, 1970-01-01T00:00:00Z; the same clock in every process");
  if (own->head.is_job) return;
  describe_text(own->file, "host", first->host);
  describe_text(own->file, "host_hash", first->host_hash);
  describe_number(own->file, "pid", first->pid);
  describe_number(own->file, "rank", first->rank);
}
