/* h5file.c - traces as one HDF5 file: passes the rows of the reader to the HDF5 writer one by one, in bounded memory.
 * SPDX-License-Identifier: MIT */
#include "h5file.h"

#include <dftracer/h5.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "command/cli/printable.h"
#include "command/trace/eventrule.h"
#include "command/trace/standin.h"

#define VALUES_MOST 4096

/* A process: a process id of one source and host. */
typedef struct h5_process {
  uint32_t source;
  uint32_t host; /* number in DFT_HOSTS; 0: not known yet */
  uint64_t pid;
  int32_t rank;
  uint32_t next; /* the next one of the same place in the map, plus 1; 0: the last */
} h5_process;

typedef struct h5_conversion {
  dft_reader *reader;
  dft_h5 *writer;
  h5_process *processes;
  uint32_t count, room;
  uint32_t map[4096]; /* the first process of a place, plus 1 */
  uint32_t last;      /* the process of the previous row */
  uint32_t name_key, value_key;
  uint32_t rank_name; /* the number of the text "PR" */
  uint64_t unit_ns;   /* of the new file */
  dft_value values[VALUES_MOST];
} h5_conversion;

/* ---- Processes ---------------------------------------------------------------------------------------------------- */

static int is_process(const h5_process *one, uint32_t source, uint64_t pid, uint32_t host) {
  return one->source == source && one->pid == pid && (!host || !one->host || one->host == host);
}

/* Adds a process to the front of its place in the map, and returns its number; UINT32_MAX: no memory. */
static uint32_t add_process(h5_conversion *file, uint32_t place, h5_process added) {
  if (file->count == file->room) {
    uint32_t room = file->room * 2 + 16;
    h5_process *larger = realloc(file->processes, room * sizeof *larger);
    if (!larger) return UINT32_MAX;
    file->processes = larger;
    file->room = room;
  }
  added.next = file->map[place];
  file->processes[file->count] = added;
  file->map[place] = file->count + 1;
  return file->count++;
}

/* The number of a process, which is added when it is new; UINT32_MAX: no memory. */
static uint32_t number_process(h5_conversion *file, uint32_t source, uint64_t pid, uint32_t host) {
  uint32_t place = (uint32_t)((pid * 31 + source) % (sizeof file->map / sizeof file->map[0]));
  uint32_t number = file->last;
  if (number >= file->count || !is_process(&file->processes[number], source, pid, host)) {
    uint32_t next = file->map[place];
    while (next && !is_process(&file->processes[next - 1], source, pid, host)) next = file->processes[next - 1].next;
    number = next ? next - 1 : add_process(file, place, (h5_process){source, host, pid, -1, 0});
    if (number == UINT32_MAX) return number;
  }
  if (host) file->processes[number].host = host;
  return file->last = number;
}

static const char *unit_name(uint64_t ns) {
  return ns == 1 ? "NS" : ns == 1000000 ? "MS" : ns == 1000000000 ? "SEC" : "US";
}

/* Texts of the reader have a length; the writer takes terminated ones. */
static const char *terminated(dft_text text, char *into, size_t size) {
  snprintf(into, size, "%.*s", (int)text.len, text.text);
  return into;
}

static void describe_processes(h5_conversion *file) {
  for (uint32_t i = 0; i < file->count; i++) {
    const h5_process *one = &file->processes[i];
    char host[256], hash[64];
    dft_source source = {.struct_size = sizeof source};
    dft_h5_facts facts = {.struct_size = sizeof facts, .pid = (uint32_t)one->pid, .rank = one->rank};
    dft_reader_source(file->reader, one->source, &source);
    facts.source = standin_name(source.path);
    facts.unit = unit_name(file->unit_ns);
    facts.host = one->host ? terminated(dft_reader_text(file->reader, DFT_HOSTS, one->host), host, sizeof host) : "";
    facts.host_hash = one->host ? terminated(dft_reader_hash(file->reader, DFT_HOSTS, one->host), hash, sizeof hash)
                                : "";
    dft_h5_process(file->writer, i, &facts);
  }
}

/* ---- Events ------------------------------------------------------------------------------------------------------- */

static dft_value value_of(const h5_conversion *file, const dft_cell *cell) {
  dft_value value = {
    .key = dft_reader_text(file->reader, DFT_KEYS, cell->key), .key_index = cell->key, .type = cell->type};
  if (cell->type == DFT_STRING || cell->type == DFT_RAW) {
    value.type = DFT_STRING;
    value.value.s = (dft_text){cell->value.text, (size_t)cell->len};
  } else {
    value.value.u = cell->value.u;
  }
  return value;
}

/* The metadata PR contains the rank: {"name":"rank","value":"3"}. */
static void note_rank(h5_conversion *file, const dft_event *event, h5_process *process) {
  char digits[16] = "";
  int is_rank = 0;
  for (uint32_t i = 0; i < event->value_count; i++) {
    const dft_value *value = &event->values[i];
    if (value->type != DFT_STRING) continue;
    if (value->key_index == file->name_key)
      is_rank = value->value.s.len == 4 && memcmp(value->value.s.text, "rank", 4) == 0;
    if (value->key_index == file->value_key) terminated(value->value.s, digits, sizeof digits);
  }
  if (is_rank && digits[0]) process->rank = (int32_t)strtol(digits, NULL, 10);
}

static int add_row(h5_conversion *file, const dft_rows *rows, uint32_t i) {
  uint32_t number = number_process(file, rows->source, rows->pid[i], rows->host[i]);
  dft_event event = {.id = rows->id[i],
                     .parent = rows->parent[i] ? rows->parent[i] : -1,
                     .start = rows->start_ns[i] / (int64_t)file->unit_ns,
                     .duration = rows->dur_ns[i] / (int64_t)file->unit_ns,
                     .level = rows->level[i],
                     .phase = rows->phase[i],
                     .pid = (uint32_t)rows->pid[i],
                     .tid = (uint32_t)rows->tid[i],
                     .name = dft_reader_text(file->reader, DFT_NAMES, rows->name[i]),
                     .cat = dft_reader_text(file->reader, DFT_CATS, rows->cat[i]),
                     .values = file->values};
  if (number == UINT32_MAX) return 0;
  if (rows->file[i]) {
    file->values[event.value_count++] = (dft_value){
      .key = {"fhash", 5}, .type = DFT_STRING, .value.s = dft_reader_hash(file->reader, DFT_FILES, rows->file[i])};
  }
  for (uint32_t k = rows->arg_first[i]; k < rows->arg_first[i + 1] && event.value_count < VALUES_MOST; k++)
    file->values[event.value_count++] = value_of(file, &rows->args[k]);
  if (event.phase == DFT_METADATA && rows->name[i] == file->rank_name)
    note_rank(file, &event, &file->processes[number]);
  dft_h5_add(file->writer, number, &event);
  return 1;
}

/* All rows of all sources, in their order. */
static int add_all(h5_conversion *file, progress *shown, uint64_t *events) {
  const dft_rows *rows;
  dft_cursor *cursor;
  event_rule rule = event_rule_for(file->reader);
  uint64_t done = 0, before = 0, all;
  int error = dft_cursor_open(file->reader, DFT_ALL, &cursor) == DFT_OK ? 0 : ENOMEM;
  if (error) return error;
  while (!error && dft_cursor_next(cursor, &rows) == DFT_OK && rows) {
    if (!file->unit_ns && rows->count) { /* the new file gets the time unit of the first trace */
      dft_source source = {.struct_size = sizeof source};
      dft_reader_source(file->reader, rows->source, &source);
      file->unit_ns = source.unit_ns ? source.unit_ns : 1000;
    }
    for (uint32_t i = 0; !error && i < rows->count; i++) {
      error = add_row(file, rows, i) ? 0 : ENOMEM;
      *events += (uint64_t)is_event(&rule, rows, i);
    }
    dft_reader_progress(file->reader, &done, &all);
    progress_add(shown, done - before);
    before = done;
  }
  dft_cursor_close(cursor);
  return error;
}

/* ---- Files -------------------------------------------------------------------------------------------------------- */

static int report_failure(const char *path, dft_status status, const char *why) {
  if (*why) fprintf(stderr, "dftracer convert: %s: %s\n", printable(path), printable(why));
  return status == DFT_ENOSPC ? ENOSPC : status == DFT_ENOMEM ? ENOMEM : status == DFT_ENOSINK ? ENOTSUP : EIO;
}

static int write_file(const char *path, dft_reader *reader, progress *shown, uint64_t *events, int is_table) {
  h5_conversion *file = calloc(1, sizeof *file);
  dft_h5_options options = {.struct_size = sizeof options, .is_table = is_table};
  const char *unusable = dft_h5_unusable();
  char why[512] = "";
  dft_status status;
  int error;
  if (unusable || !file) {
    free(file);
    return report_failure(path, unusable ? DFT_ENOSINK : DFT_ENOMEM, unusable ? unusable : "");
  }
  file->reader = reader;
  file->name_key = dft_reader_number(reader, DFT_KEYS, "name", 4);
  file->value_key = dft_reader_number(reader, DFT_KEYS, "value", 5);
  file->rank_name = dft_reader_number(reader, DFT_NAMES, "PR", 2);
  status = dft_h5_open(path, &options, &file->writer);
  if (status != DFT_OK) {
    free(file);
    return report_failure(path, status, dft_status_text(status));
  }
  error = add_all(file, shown, events);
  describe_processes(file);
  status = dft_h5_close(file->writer, !error, why, sizeof why);
  free(file->processes);
  free(file);
  return error || status == DFT_OK ? error : report_failure(path, status, why);
}

int h5file_write(const char *path, dft_reader *reader, progress *shown, uint64_t *events) {
  return write_file(path, reader, shown, events, 0);
}

int h5file_write_table(const char *path, dft_reader *reader, progress *shown, uint64_t *events) {
  return write_file(path, reader, shown, events, 1);
}

int h5file_merge(const char *path, char *const *parts, size_t count, int is_table, uint64_t *events) {
  dft_h5_options options = {.struct_size = sizeof options, .is_table = is_table};
  char why[512] = "";
  dft_status status = dft_h5_merge(path, &options, (const char *const *)parts, count, events, why, sizeof why);
  return status == DFT_OK ? 0 : report_failure(path, status, why);
}

int h5file_link(const char *path, char *const *parts, size_t count) {
  char why[512] = "";
  dft_status status = dft_h5_virtual(path, (const char *const *)parts, count, why, sizeof why);
  return status == DFT_OK ? 0 : report_failure(path, status, why);
}
