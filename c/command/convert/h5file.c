/* h5file.c - traces as one HDF5 file: passes the rows of the reader to the HDF5 writer one by one, in bounded memory.
 * SPDX-License-Identifier: MIT */
#include "h5file.h"

#include <dftracer/h5.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "command/trace/eventrule.h"

#define VALUES_MOST 4096

/* A process: a process id of one source and host. */
typedef struct h5_process {
  uint32_t source;
  uint32_t host; /* number in DFT_HOSTS; 0: not known yet */
  uint64_t pid;
  int32_t rank;
  uint32_t next; /* the next one of the same place in the map, plus 1; 0: the last */
} h5_process;

typedef struct conversion {
  dft_reader *reader;
  dft_h5 *to;
  h5_process *processes;
  uint32_t count, room;
  uint32_t map[4096]; /* the first process of a place, plus 1 */
  uint32_t last;      /* the process of the previous row */
  uint32_t name_key, value_key;
  uint32_t rank_name; /* the number of the text "PR" */
  uint64_t unit_ns;   /* of the new file */
  dft_value values[VALUES_MOST];
} conversion;

/* ---- Processes ---------------------------------------------------------------------------------------------------- */

static int is_process(const h5_process *one, uint32_t source, uint64_t pid, uint32_t host) {
  return one->source == source && one->pid == pid && (!host || !one->host || one->host == host);
}

/* The number of the process; UINT32_MAX: no memory. */
static uint32_t process_of(conversion *own, uint32_t source, uint64_t pid, uint32_t host) {
  uint32_t place = (uint32_t)((pid * 31 + source) % (sizeof own->map / sizeof own->map[0]));
  uint32_t found = own->last;
  if (found >= own->count || !is_process(&own->processes[found], source, pid, host)) {
    for (found = own->map[place]; found; found = own->processes[found - 1].next) {
      if (is_process(&own->processes[found - 1], source, pid, host)) break;
    }
    if (!found) {
      if (own->count == own->room) {
        h5_process *larger = realloc(own->processes, (own->room * 2 + 16) * sizeof *larger);
        if (!larger) return UINT32_MAX;
        own->processes = larger;
        own->room = own->room * 2 + 16;
      }
      own->processes[own->count] = (h5_process){source, host, pid, -1, own->map[place]};
      found = own->map[place] = ++own->count;
    }
    found--;
  }
  if (host) own->processes[found].host = host;
  return own->last = found;
}

static const char *unit_name(uint64_t ns) {
  return ns == 1 ? "NS" : ns == 1000000 ? "MS" : ns == 1000000000 ? "SEC" : "US";
}

/* Texts of the reader have a length; the writer takes terminated ones. */
static const char *terminated(dft_text text, char *into, size_t size) {
  snprintf(into, size, "%.*s", (int)text.len, text.text);
  return into;
}

static void describe_processes(conversion *own) {
  for (uint32_t i = 0; i < own->count; i++) {
    const h5_process *one = &own->processes[i];
    char host[256], hash[64];
    dft_source source = {.struct_size = sizeof source};
    dft_h5_facts facts = {.struct_size = sizeof facts, .pid = (uint32_t)one->pid, .rank = one->rank};
    dft_reader_source(own->reader, one->source, &source);
    facts.source = source.path;
    facts.unit = unit_name(own->unit_ns);
    facts.host = one->host ? terminated(dft_reader_text(own->reader, DFT_HOSTS, one->host), host, sizeof host) : "";
    facts.host_hash = one->host ? terminated(dft_reader_hash(own->reader, DFT_HOSTS, one->host), hash, sizeof hash)
                                : "";
    dft_h5_process(own->to, i, &facts);
  }
}

/* ---- Events ------------------------------------------------------------------------------------------------------- */

static dft_value value_of(const conversion *own, const dft_cell *cell) {
  dft_value value = {
    .key = dft_reader_text(own->reader, DFT_KEYS, cell->key), .key_index = cell->key, .type = cell->type};
  if (cell->type == DFT_STRING || cell->type == DFT_RAW) {
    value.type = DFT_STRING;
    value.value.s = (dft_text){cell->value.text, (size_t)cell->len};
  } else {
    value.value.u = cell->value.u;
  }
  return value;
}

/* The metadata PR contains the rank: {"name":"rank","value":"3"}. */
static void note_rank(conversion *own, const dft_event *event, h5_process *process) {
  char digits[16] = "";
  int is_rank = 0;
  for (uint32_t i = 0; i < event->value_count; i++) {
    const dft_value *value = &event->values[i];
    if (value->type != DFT_STRING) continue;
    if (value->key_index == own->name_key)
      is_rank = value->value.s.len == 4 && memcmp(value->value.s.text, "rank", 4) == 0;
    if (value->key_index == own->value_key) terminated(value->value.s, digits, sizeof digits);
  }
  if (is_rank && digits[0]) process->rank = (int32_t)strtol(digits, NULL, 10);
}

static int add_row(conversion *own, const dft_rows *rows, uint32_t i) {
  uint32_t number = process_of(own, rows->source, rows->pid[i], rows->host[i]);
  dft_event event = {.id = rows->id[i],
                     .parent = rows->parent[i] ? rows->parent[i] : -1,
                     .start = rows->start_ns[i] / (int64_t)own->unit_ns,
                     .duration = rows->dur_ns[i] / (int64_t)own->unit_ns,
                     .level = rows->level[i],
                     .phase = rows->phase[i],
                     .pid = (uint32_t)rows->pid[i],
                     .tid = (uint32_t)rows->tid[i],
                     .name = dft_reader_text(own->reader, DFT_NAMES, rows->name[i]),
                     .cat = dft_reader_text(own->reader, DFT_CATS, rows->cat[i]),
                     .values = own->values};
  if (number == UINT32_MAX) return 0;
  if (rows->file[i]) {
    own->values[event.value_count++] = (dft_value){
      .key = {"fhash", 5}, .type = DFT_STRING, .value.s = dft_reader_hash(own->reader, DFT_FILES, rows->file[i])};
  }
  for (uint32_t k = rows->arg_first[i]; k < rows->arg_first[i + 1] && event.value_count < VALUES_MOST; k++)
    own->values[event.value_count++] = value_of(own, &rows->args[k]);
  if (event.phase == DFT_METADATA && rows->name[i] == own->rank_name) note_rank(own, &event, &own->processes[number]);
  dft_h5_add(own->to, number, &event);
  return 1;
}

/* All rows of all sources, in their order. */
static int add_all(conversion *own, progress *shown, uint64_t *events) {
  const dft_rows *rows;
  dft_cursor *cursor;
  event_rule rule = event_rule_for(own->reader);
  uint64_t done = 0, before = 0, all;
  int error = dft_cursor_open(own->reader, DFT_ALL, &cursor) == DFT_OK ? 0 : ENOMEM;
  if (error) return error;
  while (!error && dft_cursor_next(cursor, &rows) == DFT_OK && rows) {
    if (!own->unit_ns && rows->count) { /* the new file gets the time unit of the first trace */
      dft_source source = {.struct_size = sizeof source};
      dft_reader_source(own->reader, rows->source, &source);
      own->unit_ns = source.unit_ns ? source.unit_ns : 1000;
    }
    for (uint32_t i = 0; !error && i < rows->count; i++) {
      error = add_row(own, rows, i) ? 0 : ENOMEM;
      *events += (uint64_t)is_event(&rule, rows, i);
    }
    dft_reader_progress(own->reader, &done, &all);
    progress_add(shown, done - before);
    before = done;
  }
  dft_cursor_close(cursor);
  return error;
}

/* ---- Files -------------------------------------------------------------------------------------------------------- */

static int report_failure(const char *path, dft_status status, const char *why) {
  if (*why) fprintf(stderr, "dftracer convert: %s: %s\n", path, why);
  return status == DFT_ENOSPC ? ENOSPC : status == DFT_ENOMEM ? ENOMEM : status == DFT_ENOSINK ? ENOTSUP : EIO;
}

static int write_file(const char *path, dft_reader *reader, progress *shown, uint64_t *events, int is_table) {
  conversion *own = calloc(1, sizeof *own);
  dft_h5_options options = {.struct_size = sizeof options, .is_table = is_table};
  const char *unusable = dft_h5_unusable();
  char why[512] = "";
  dft_status status;
  int error;
  if (unusable || !own) {
    free(own);
    return report_failure(path, unusable ? DFT_ENOSINK : DFT_ENOMEM, unusable ? unusable : "");
  }
  own->reader = reader;
  own->name_key = dft_reader_number(reader, DFT_KEYS, "name", 4);
  own->value_key = dft_reader_number(reader, DFT_KEYS, "value", 5);
  own->rank_name = dft_reader_number(reader, DFT_NAMES, "PR", 2);
  status = dft_h5_open(path, &options, &own->to);
  if (status != DFT_OK) {
    free(own);
    return report_failure(path, status, dft_status_text(status));
  }
  error = add_all(own, shown, events);
  describe_processes(own);
  status = dft_h5_close(own->to, !error, why, sizeof why);
  free(own->processes);
  free(own);
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
