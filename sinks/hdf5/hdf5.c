/* hdf5.c - the sink of HDF5 tables: .h5 files, one a process.
 *
 *   append   batch -> rows (rows.c) -> chunks of columns -> segment file       finish   segment file -> HDF5 file (join.c)
 *
 * There is no encode: rows of all batches go into the same chunks, so the drain's thread adds them one batch at a time. Options,
 * with colons between them: layout=columns (the default) or layout=table; segment=BYTES, the least size of a segment.
 * SPDX-License-Identifier: MIT */
#include <dftracer/h5.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "../sinks.h"
#include "codec/heldfolder.h"
#include "join.h"
#include "rows.h"

typedef struct writer {
  dft__h5_rows rows;
  uint64_t segment_bytes;
} writer;

static int is_option(const char *given, size_t len, const char *known) {
  return len == strlen(known) && memcmp(given, known, len) == 0;
}

/* Zero when an option is not known. */
static int parse(const char *options, dft__h5_head *head, uint64_t *segment_bytes) {
  head->schema = DFT__H5_SCHEMA;
  *segment_bytes = DFT__H5_SEGMENT_BYTES;
  while (options && *options) {
    size_t len = strcspn(options, ":");
    char *end = NULL;
    if (is_option(options, len, "layout=table")) {
      head->is_table = 1;
    } else if (strncmp(options, "segment=", 8) == 0) {
      *segment_bytes = strtoull(options + 8, &end, 10);
      if (end != options + len || !*segment_bytes) return 0;
    } else if (!is_option(options, len, "layout=columns")) {
      return 0;
    }
    options += len + (options[len] == ':');
  }
  return 1;
}

static const char *hdf5_check(const char *options) {
  dft__h5_head head = {0};
  uint64_t segment_bytes;
  if (!parse(options, &head, &segment_bytes))
    return "its options are layout=columns, layout=table and segment=BYTES, with colons between them";
  return dft__h5_join_check();
}

static dft_status hdf5_open(const dft_sink_target *target, void **state) {
  dft__h5_head head = {.level = target->level};
  writer *own;
  dft_status status = dft__h5_segment_begin(target->path, target->resume_bytes);
  *state = NULL;
  if (status != DFT_OK) return status;
  own = malloc(sizeof *own);
  if (!own) return DFT_ENOMEM;
  parse(target->options, &head, &own->segment_bytes);
  status = dft__h5_rows_open(&own->rows, target->path, &head, target->resume_bytes);
  if (status != DFT_OK) {
    dft__h5_rows_close(&own->rows);
    free(own);
    return status;
  }
  *state = own;
  return DFT_OK;
}

static dft_status hdf5_append(void *state, dft_batch *batch, const dft_bytes *bytes, uint64_t *committed_bytes) {
  writer *own = state;
  dft_event event;
  dft_status status;
  (void)bytes;
  dft__h5_tables_tidy(&own->rows.tables); /* what came before is committed */
  while (dft_batch_next(batch, &event, sizeof event)) dft__h5_rows_add(&own->rows, &event);
  status = dft__h5_rows_save(&own->rows, committed_bytes);
  return status == DFT_OK ? dft__h5_rows_roll(&own->rows, own->segment_bytes) : status;
}

static dft_status hdf5_close(void *state, int complete) {
  writer *own = state;
  (void)complete;
  dft__h5_rows_close(&own->rows);
  free(own);
  return DFT_OK;
}

static dft_status hdf5_finish(const dft_sink_target *target, char *why, size_t size) {
  return dft__h5_join(target->path, target->resume_bytes, why, size);
}

static dft_status hdf5_salvage(const dft_sink_target *target, dft_salvaged *salvaged, char *why, size_t size) {
  dft_h5_salvaged facts = {.struct_size = sizeof facts};
  struct stat file;
  dft_status status = dft_h5_salvage(target->path, &facts, why, size);
  salvaged->events = facts.events;
  salvaged->pid = facts.pid;
  salvaged->is_annotated = facts.is_annotated;
  salvaged->is_empty = status == DFT_OK && dft__held_stat(target->path, &file) != 0 &&
                       errno == ENOENT; /* it held no events */
  return status;
}

static dft_status hdf5_read_open(const dft_sink_target *target, void **reading) {
  dft_h5_segments *segments;
  dft_status status = dft_h5_segments_open(target->path, &segments);
  if (status != DFT_OK) return DFT_ENOMEM;
  status = dft_h5_segments_read(segments, target->resume_bytes);
  if (status == DFT_OK) *reading = segments;
  else dft_h5_segments_close(segments);
  return status;
}

static int hdf5_read_next(void *reading, dft_event *event, size_t event_size) {
  return dft_h5_segments_next(reading, event, event_size);
}

static void hdf5_read_close(void *reading) {
  dft_h5_segments_close(reading);
}

const dft_sink dft__sink_hdf5 = {
  .struct_size = sizeof(dft_sink),
  .name = "hdf5",
  .summary = "HDF5 tables, one file per process",
  .suffix = ".h5",
  .open = hdf5_open,
  .append = hdf5_append,
  .close = hdf5_close,
  .check = hdf5_check,
  .finish = hdf5_finish,
  .salvage = hdf5_salvage,
  .read_open = hdf5_read_open,
  .read_next = hdf5_read_next,
  .read_close = hdf5_read_close,
};
