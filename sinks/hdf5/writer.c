/* writer.c - HDF5 tables from events of anywhere.
 * SPDX-License-Identifier: MIT */
#include <dftracer/h5.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "codec/file.h"
#include "codec/gzip.h"
#include "join.h"
#include "rows.h"

struct dft_h5 {
  dft__h5_rows rows;
  dft_status status; /* the first that was not DFT_OK */
  char path[PATH_MAX];
  char hidden[PATH_MAX + 32]; /* segments, beside it */
  char unit[8];               /* of the times of merged files */
};

const char *dft_h5_unusable(void) {
  return dft__h5_join_check();
}

dft_status dft_h5_open(const char *path, const dft_h5_options *options, dft_h5 **writer) {
  dft__h5_head head = {.schema = DFT__H5_SCHEMA, .is_job = 1};
  const char *slash = strrchr(path, '/');
  int folder = slash ? (int)(slash + 1 - path) : 0;
  dft_h5 *own;
  dft_status status;
  *writer = NULL;
  if (dft__h5_join_check()) return DFT_ENOSINK;
  if (options && options->struct_size < sizeof *options) return DFT_EINVAL;
  if (strlen(path) >= PATH_MAX || !path[folder]) return DFT_EINVAL;
  if (options) head.is_table = options->is_table != 0, head.level = options->level;
  own = calloc(1, sizeof *own);
  if (!own) return DFT_ENOMEM;
  dft__gzip_load();
  snprintf(own->path, sizeof own->path, "%s", path);
  snprintf(own->hidden, sizeof own->hidden, "%.*s.%s.%d", folder, path, path + folder, (int)getpid());
  status = dft__file_begin(own->hidden, 0);
  if (status != DFT_OK) {
    free(own);
    return status;
  }
  status = dft__h5_rows_open(&own->rows, own->hidden, &head, 0);
  if (status != DFT_OK) dft_h5_close(own, 0, (char[8]){0}, 8);
  else *writer = own;
  return status;
}

static void keep_text(char *into, size_t size, const char *text) {
  if (text) snprintf(into, size, "%s", text);
}

dft_status dft_h5_process(dft_h5 *writer, uint32_t row, const dft_h5_facts *facts) {
  dft__h5_process process = {.pid = facts->pid, .rank = facts->rank};
  if (facts->struct_size < sizeof *facts) return DFT_EINVAL;
  keep_text(process.host, sizeof process.host, facts->host);
  keep_text(process.host_hash, sizeof process.host_hash, facts->host_hash);
  keep_text(process.source, sizeof process.source, facts->source);
  keep_text(process.unit, sizeof process.unit, facts->unit);
  dft__h5_rows_describe(&writer->rows, row, &process);
  return DFT_OK;
}

void dft_h5_add(dft_h5 *writer, uint32_t process, const dft_event *event) {
  writer->rows.process_row = process;
  if (writer->status != DFT_OK) return;
  dft__h5_rows_add(&writer->rows, event);
  if (writer->rows.tables.has_failed) writer->status = DFT_EIO;
}

dft_status dft_h5_close(dft_h5 *writer, int complete, char *why, size_t size) {
  uint64_t length = 0;
  dft_status status = writer->status;
  snprintf(why, size, "%s", status == DFT_OK ? "" : "the disk is full, or cannot be written to");
  if (complete && status == DFT_OK) {
    status = dft__h5_rows_save(&writer->rows, &length);
    if (status == DFT_OK) status = dft__h5_join(writer->hidden, length, why, size);
    else snprintf(why, size, "%s", dft_status_text(status));
    if (status == DFT_OK && rename(writer->hidden, writer->path) != 0) {
      snprintf(why, size, "%s: %s", writer->path, strerror(errno));
      status = DFT_EIO;
    }
  }
  if (!complete || status != DFT_OK) unlink(writer->hidden);
  dft__h5_rows_close(&writer->rows);
  free(writer);
  return status;
}

dft_status dft_h5_virtual(const char *path, const char *const *files, size_t count, char *why, size_t size) {
  char hidden[PATH_MAX + 32];
  const char **arguments = calloc(count + 3, sizeof arguments[0]);
  const char *slash = strrchr(path, '/');
  int folder = slash ? (int)(slash + 1 - path) : 0;
  dft_status status;
  if (!arguments) return DFT_ENOMEM;
  snprintf(hidden, sizeof hidden, "%.*s.%s.%d", folder, path, path + folder, (int)getpid());
  arguments[0] = "virtual";
  arguments[1] = hidden;
  memcpy(arguments + 2, files, count * sizeof files[0]);
  status = dft__h5_join_run(arguments, AT_FDCWD, why, size);
  if (status == DFT_OK && rename(hidden, path) != 0) {
    snprintf(why, size, "%s: %s", path, strerror(errno));
    status = DFT_EIO;
  }
  if (status != DFT_OK) unlink(hidden);
  free(arguments);
  return status;
}

/* ---- Merging files ------------------------------------------------------------------------------------------------ */

static const char *add_events(dft_h5 *writer, uint32_t row, const char *file, dft_h5_segments *segments,
                              uint64_t *events) {
  dft__h5_process process = *dft__h5_segments_process(segments);
  dft_event event;
  int found;
  if (!row) memcpy(writer->unit, process.unit, sizeof process.unit);
  if (strcmp(process.unit, writer->unit) != 0) return "it has other units of time than the first";
  memset(process.source, 0, sizeof process.source);
  keep_text(process.source, sizeof process.source, file);
  dft__h5_rows_describe(&writer->rows, row, &process);
  while ((found = dft_h5_segments_next(segments, &event, sizeof event)) > 0) {
    dft_h5_add(writer, row, &event);
    ++*events;
  }
  return found == 0 ? NULL : "it is damaged";
}

/* By way of segments: only h5join can read the file. */
static dft_status add_file(dft_h5 *writer, uint32_t row, const char *file, uint64_t *events, char *why, size_t size) {
  char split[sizeof writer->hidden + 8];
  const char *arguments[] = {"split", file, split, NULL};
  dft_h5_segments *segments = NULL;
  const char *wrong = "it is damaged";
  dft_status status;
  snprintf(split, sizeof split, "%s-split", writer->hidden);
  status = dft__h5_join_run(arguments, AT_FDCWD, why, size);
  if (status == DFT_OK) status = dft_h5_segments_open(split, &segments);
  if (status == DFT_OK) status = dft_h5_segments_read(segments, dft__h5_segment_length(split));
  if (status == DFT_OK) wrong = add_events(writer, row, file, segments, events);
  dft_h5_segments_close(segments);
  unlink(split);
  if (wrong && !*why) snprintf(why, size, "%s: %s", file, wrong);
  return wrong && status == DFT_OK ? DFT_EINVAL : status;
}

dft_status dft_h5_merge(const char *path, const dft_h5_options *options, const char *const *files, size_t count,
                        uint64_t *events, char *why, size_t size) {
  dft_h5 *writer;
  dft_status status = dft_h5_open(path, options, &writer);
  *events = 0;
  snprintf(why, size, "%s", status == DFT_OK ? "" : dft_status_text(status));
  if (status != DFT_OK) return status;
  for (size_t i = 0; status == DFT_OK && i < count; i++)
    status = add_file(writer, (uint32_t)i, files[i], events, why, size);
  if (status == DFT_OK) return dft_h5_close(writer, 1, why, size);
  dft_h5_close(writer, 0, (char[8]){0}, 8);
  return status;
}
