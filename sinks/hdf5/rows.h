/* rows.h - events to rows: what the HDF5 sink and the conversion to HDF5 share.
 *
 * One writer makes one row of segment files. Everything that was added is in the file after dft__h5_rows_save, and only then.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_H5_ROWS_H
#define DFTRACER_H5_ROWS_H

#include <dftracer/h5.h>

#include "dictionary.h"
#include "tables.h"

typedef struct dft__h5_rows {
  dft__h5_head head;
  dft__h5_segment segment;
  dft__h5_tables tables;
  dft__h5_dictionary names;
  dft__h5_dictionary texts;
  uint64_t name_count;
  uint64_t names_saved;
  uint8_t *new_names; /* as in the record NAMES */
  size_t new_bytes, new_room;
  struct dft__h5_site { /* by site_index; name 0: not known yet, else the row and one */
    uint32_t name, cat;
    int is_plain;
  } * sites;
  uint32_t site_room;
  struct dft__h5_key { /* by key_index, the same way */
    uint32_t row;
    int is_plain;
  } * keys;
  uint32_t key_room;
  dft__h5_process process; /* whose events are added; not used in the file of a job */
  uint32_t process_row;
  int is_process_saved;
} dft__h5_rows;

/* A writer that goes on where a row of this length ends; 0: from the start. */
dft_status dft__h5_rows_open(dft__h5_rows *rows, const char *path, const dft__h5_head *head, uint64_t length);
void dft__h5_rows_close(dft__h5_rows *rows);

void dft__h5_rows_add(dft__h5_rows *rows, const dft_event *event);

/* In the file of a job: what is known of a process; events that follow are of the one in rows->process_row. */
void dft__h5_rows_describe(dft__h5_rows *rows, uint32_t row, const dft__h5_process *process);

/* Writes everything; *length is that of the row of files. */
dft_status dft__h5_rows_save(dft__h5_rows *rows, uint64_t *length);
/* After it: completes the segment that has at least so many bytes. */
dft_status dft__h5_rows_roll(dft__h5_rows *rows, uint64_t most);

/* Of events.c: whose events they are. */
const dft__h5_process *dft__h5_segments_process(const dft_h5_segments *segments);

#endif
