/* hdf5.c - the sink of HDF5 tables: .h5 files, one a process.
 *
 *   append   batch -> rows (rows.c) -> chunks of columns -> segment file       finish   segment file -> HDF5 file (join.c)
 *
 * There is no encode: rows of all batches go into the same chunks, so they are made one batch at a time, by the drain
 * thread. Options: layout=columns (the default) or layout=table.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "../jsonl/file.h"
#include "../sinks.h"
#include "join.h"
#include "rows.h"

/* Zero when an option is not known. */
static int parse(const char *options, dft__h5_head *head) {
  head->schema = DFT__H5_SCHEMA;
  if (!options || !*options || strcmp(options, "layout=columns") == 0) return 1;
  head->is_table = strcmp(options, "layout=table") == 0;
  return (int)head->is_table;
}

static const char *hdf5_check(const char *options) {
  dft__h5_head head = {0};
  if (!parse(options, &head)) return "its options are layout=columns and layout=table";
  return dft__h5_join_check();
}

static dft_status hdf5_open(const dft_sink_target *target, void **state) {
  dft__h5_head head = {.level = target->level};
  dft__h5_rows *rows;
  dft_status status = dft__file_begin(target->path, target->resume_bytes);
  *state = NULL;
  if (status != DFT_OK) return status;
  rows = malloc(sizeof *rows);
  if (!rows) return DFT_ENOMEM;
  parse(target->options, &head);
  status = dft__h5_rows_open(rows, target->path, &head, target->resume_bytes);
  if (status != DFT_OK) {
    dft__h5_rows_close(rows);
    free(rows);
    return status;
  }
  *state = rows;
  return DFT_OK;
}

static dft_status hdf5_append(void *state, dft_batch *batch, const dft_bytes *bytes, uint64_t *committed_bytes) {
  dft__h5_rows *rows = state;
  dft_event event;
  (void)bytes;
  dft__h5_tables_tidy(&rows->tables); /* what came before is committed */
  while (dft_batch_next(batch, &event, sizeof event)) dft__h5_rows_add(rows, &event);
  return dft__h5_rows_save(rows, committed_bytes);
}

static dft_status hdf5_close(void *state, int complete) {
  (void)complete;
  dft__h5_rows_close(state);
  free(state);
  return DFT_OK;
}

static dft_status hdf5_finish(const dft_sink_target *target, char *why, size_t size) {
  return dft__h5_join(target->path, target->resume_bytes, why, size);
}

const dft_sink dft__sink_hdf5 = {
  .struct_size = sizeof(dft_sink),
  .name = "hdf5",
  .summary = "HDF5 tables, one file a process",
  .suffix = ".h5",
  .open = hdf5_open,
  .append = hdf5_append,
  .close = hdf5_close,
  .check = hdf5_check,
  .finish = hdf5_finish,
};
