/* salvage.c - a trace whose spool is gone: the HDF5 file of what its segments hold.
 *
 * No commit says how much of them counts. Each append ends with a record SAVED; what follows the last one is torn.
 * SPDX-License-Identifier: MIT */
#include <dftracer/h5.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/heldfolder.h"
#include "join.h"
#include "rows.h"

typedef struct content {
  uint64_t last_id;
  int64_t last_time;
  int is_complete;
} content;

static int is_text(dft_text text, const char *other) {
  return text.len == strlen(other) && memcmp(text.text, other, text.len) == 0;
}

static uint64_t saved_length(const char *path) {
  dft__h5_walk walk;
  uint64_t length = 0;
  if (!dft__h5_walk_open(&walk, path, dft__h5_segment_length(path))) return 0;
  while (dft__h5_walk_next(&walk) > 0) {
    if (walk.record.kind == DFT__H5_SAVED) length = walk.next;
  }
  dft__h5_walk_close(&walk);
  return length;
}

static void note(content *found, dft_h5_salvaged *facts, const dft_event *event) {
  int is_own = is_text(event->cat, "dftracer");
  if (event->id > found->last_id) found->last_id = event->id;
  if (event->phase != DFT_METADATA && event->start + event->duration > found->last_time)
    found->last_time = event->start + event->duration;
  found->is_complete = is_own && is_text(event->name, "end");
  if (!facts->pid) facts->pid = event->pid;
  if (is_own || event->phase == DFT_METADATA) return;
  facts->events++;
  if (!is_text(event->cat, "POSIX") && !is_text(event->cat, "STDIO")) facts->is_annotated = 1;
}

static dft_status examine(const char *path, uint64_t length, content *found, dft_h5_salvaged *facts) {
  dft_h5_segments *segments;
  dft_event event;
  int more = -1;
  dft_status status = dft_h5_segments_open(path, &segments);
  if (status != DFT_OK) return status;
  if (dft_h5_segments_read(segments, length) == DFT_OK) {
    while ((more = dft_h5_segments_next(segments, &event, sizeof event)) > 0) note(found, facts, &event);
  }
  dft_h5_segments_close(segments);
  return more == 0 ? DFT_OK : DFT_EFORMAT;
}

static dft_status add_end(const char *path, uint64_t *length, const content *found, const dft_h5_salvaged *facts) {
#define NUMBER(name, number) {.key = {name, sizeof name - 1}, .type = DFT_INT, .value.i = (int64_t)(number)}
  dft_value values[] = {NUMBER("num_events", facts->events), NUMBER("recovered", 1), NUMBER("spool_lost", 1)};
  dft_event end = {.id = found->last_id + 1,
                   .parent = -1,
                   .start = found->last_time,
                   .phase = DFT_COMPLETE,
                   .pid = facts->pid,
                   .tid = facts->pid,
                   .name = {"end", 3},
                   .cat = {"dftracer", 8},
                   .value_count = sizeof values / sizeof values[0],
                   .values = values};
  dft__h5_head head = {.schema = DFT__H5_SCHEMA, .level = 1};
  dft__h5_rows rows;
  dft_status status = dft__h5_segment_begin(path, *length);
  if (status != DFT_OK) return status;
  status = dft__h5_rows_open(&rows, path, &head, *length);
  if (status == DFT_OK) {
    dft__h5_rows_add(&rows, &end);
    status = dft__h5_rows_save(&rows, length);
  }
  dft__h5_rows_close(&rows);
  return status;
}

dft_status dft_h5_salvage(const char *live_path, dft_h5_salvaged *facts, char *why, size_t size) {
  content found = {0};
  uint64_t length;
  dft_status status = DFT_OK;
  if (facts->struct_size < sizeof *facts) return DFT_EINVAL;
  why[0] = '\0';
  facts->events = facts->pid = facts->is_annotated = 0;
  if (dft__h5_is_joined(live_path)) return dft__h5_join(live_path, 0, why, size);
  length = saved_length(live_path);
  if (length) status = examine(live_path, length, &found, facts);
  if (status == DFT_OK && !facts->events) {
    dft__h5_segment_remove(live_path);
    return dft__held_unlink(live_path) == 0 ? DFT_OK : DFT_EIO;
  }
  if (status == DFT_OK && !found.is_complete) status = add_end(live_path, &length, &found, facts);
  if (status != DFT_OK) snprintf(why, size, "%s", dft_status_text(status));
  return status == DFT_OK ? dft__h5_join(live_path, length, why, size) : status;
}
